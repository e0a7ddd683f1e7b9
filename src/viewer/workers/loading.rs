//! The thread that reads scenes: keeps a [`Project`] up to date, with its files and with the user's
//! edits, and passes every state to the rendering threads.

use super::message::Event;
use super::outbox::Outbox;
use shadewright_project::{
    self as project, EditError, InstanceId, OptionEdits, Outcome, Project, ProjectState, Source, View, Watcher,
};
use shadewright_scene::ParamValue;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

/// A request to the thread.
#[derive(Clone, Debug)]
pub enum Request {
    /// Another scene.
    Open(Source),
    /// Looks at the files: some may have changed.
    Look,
    /// A parameter of another value.
    SetParameter(InstanceId, String, Option<ParamValue>),
    /// Options of other values.
    SetOptions(OptionEdits),
    /// Displaced surfaces for another view.
    CutFor(View),
    /// Ends the thread.
    End,
}

impl Request {
    /// True if the later request supersedes this one.
    fn is_outdated_by(&self, later: &Request) -> bool {
        match (self, later) {
            (_, Request::Open(_))
            | (Request::Look, Request::Look)
            | (Request::CutFor(_), Request::CutFor(_))
            | (Request::SetOptions(_), Request::SetOptions(_)) => true,
            (Request::SetParameter(a, name, _), Request::SetParameter(b, other, _)) => a == b && name == other,
            _ => false,
        }
    }
}

/// Executes requests until it is closed, and those that it sends itself through `look` when a file
/// has changed. `share` passes a state to the rendering threads.
pub fn run(
    requests: &Receiver<Request>,
    look: Sender<Request>,
    options: &project::ProjectOptions,
    outbox: &Outbox,
    share: &dyn Fn(&Arc<ProjectState>),
) {
    let watcher = Watcher::new(move || {
        // The thread may be ending.
        let _ = look.send(Request::Look);
    });
    let mut project = None;
    while let Ok(first) = requests.recv() {
        let mut waiting: Vec<Request> = Vec::new();
        for request in std::iter::once(first).chain(requests.try_iter()) {
            waiting.retain(|old| !old.is_outdated_by(&request));
            waiting.push(request);
        }
        for request in waiting {
            if matches!(request, Request::End) {
                return;
            }
            match carry_out(request, &mut project, options, outbox) {
                Ok(Outcome::Unchanged) => {}
                Ok(Outcome::Ready(state)) => {
                    share(&state);
                    outbox.send(Event::Loaded(state));
                }
                Ok(Outcome::Broken(failure)) => outbox.send(Event::Broken(failure)),
                Err(error) => outbox.send(Event::Refused(error.to_string())),
            }
        }
        if let Some(project) = &project {
            watcher.watch(project.files());
        }
    }
}

/// Carries out one request. There is no project before the first one is opened.
fn carry_out(
    request: Request,
    project: &mut Option<Project>,
    options: &project::ProjectOptions,
    outbox: &Outbox,
) -> Result<Outcome, EditError> {
    if let Request::Open(source) = request {
        outbox.send(Event::Busy(format!("reading {}", name(&source))));
        let next = match project {
            Some(before) => before.replaced_by(source),
            None => Project::new(source, options.clone()),
        };
        return Ok(project.insert(next).refresh());
    }
    let Some(project) = project else { return Ok(Outcome::Unchanged) };
    match request {
        Request::Open(_) | Request::Look | Request::End => Ok(project.refresh()),
        Request::SetParameter(instance, name, value) => project.set_parameter(instance, &name, value),
        Request::SetOptions(edits) => project.set_options(edits),
        Request::CutFor(view) => {
            if project.state().is_some_and(|state| state.displaced_triangles > 0) {
                outbox.send(Event::Busy("displacing surfaces".to_string()));
            }
            Ok(project.cut_for(&view))
        }
    }
}

/// The display name of a scene.
fn name(source: &Source) -> String {
    match source {
        Source::BuiltIn(name) => format!("the built-in scene {name}"),
        Source::File(path) => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
    }
}
