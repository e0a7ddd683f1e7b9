//! The reload graph: scene files → scene → program (with shader files) → BVHs.

use super::edits::{self, Edits};
use super::parameters::{Parameters, in_type};
use super::{
    EditError, Failure, InstanceId, OptionEdits, Outcome, ProjectOptions, ProjectState, Redone, Source, Times, View,
};
use glam::Mat4;
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::log::FileLog;
use shadewright_base::text::source::SourceMap;
use shadewright_bvh::kernels;
use shadewright_bvh::{BuildOptions, TwoLevel};
use shadewright_geometry::Mesh;
use shadewright_image::check_size;
use shadewright_lang::ShaderRef;
use shadewright_program::memory::build_tree;
use shadewright_program::{DEFAULT_SURFACE, LinkOptions, Program, ShaderCache, link_cached, set_options, set_view};
use shadewright_render::displace::{Displaced, Displacer, keep_meshes};
use shadewright_render::film::FilmSettings;
use shadewright_render::{default_quality, triangles_to_build};
use shadewright_scene::{self as scene, ParamValue, Scene, ShaderId, ShaderInstance, ShaderRole, Unusable};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// A scene with the files that it depends on, and the user's edits.
#[derive(Debug)]
pub struct Project {
    source: Source,
    options: ProjectOptions,
    edits: Edits,
    /// Every text that was read, each file's once.
    pub(super) sources: SourceMap,
    /// The files of the scene's last reading; `None` before the first one.
    scene_files: Option<FileLog>,
    /// The scene when it was last without errors.
    read: Option<Read>,
    /// True if it has errors now.
    scene_is_broken: bool,
    /// The compiled shader files.
    units: ShaderCache,
    displacer: Displacer,
    /// The files of the shaders, when they were last linked.
    shader_files: FileLog,
    /// Shaders that the state does without, as the scene names them.
    left_out: HashSet<String>,
    kernels: Option<kernels::Folder>,
    state: Option<Arc<ProjectState>>,
    failure: Option<Arc<Failure>>,
    version: u64,
}

/// A scene as its files give it.
#[derive(Clone, Debug)]
struct Read {
    scene: Arc<Scene>,
    diagnostics: Diagnostics,
}

impl Project {
    /// A project of which nothing is read yet.
    pub fn new(source: Source, options: ProjectOptions) -> Self {
        let displacer = options.open.max_triangles.map_or_else(Displacer::default, Displacer::new);
        Self {
            displacer,
            kernels: if options.kernels { kernels::Folder::usual() } else { None },
            source,
            options,
            edits: Edits::default(),
            sources: SourceMap::new(),
            scene_files: None,
            read: None,
            scene_is_broken: false,
            units: ShaderCache::default(),
            shader_files: FileLog::default(),
            left_out: HashSet::new(),
            state: None,
            failure: None,
            version: 0,
        }
    }

    /// A project in the place of this one: the versions of its states continue from this one's.
    pub fn replaced_by(&self, source: Source) -> Self {
        Self { version: self.version, ..Self::new(source, self.options.clone()) }
    }

    /// Says at which share of the shutter's opening, from 0 to 1, the next [`Project::refresh`]
    /// reads the scene, whether its files have changed or not.
    pub fn set_time(&mut self, share: f32) {
        self.options.open.time = share;
        self.scene_files = None;
    }

    /// Cuts displaced surfaces for a view, until the scene is read again.
    pub fn cut_for(&mut self, view: &View) -> Outcome {
        if self.state.as_ref().is_none_or(|state| state.displaced_triangles == 0) {
            return Outcome::Unchanged;
        }
        self.displacer.set_view(Some((view.camera.clone(), view.format)));
        self.update(Redone::default(), Times::default())
    }

    /// The files that the last attempt read, and those that it looked for in vain.
    pub fn files(&self) -> Vec<PathBuf> {
        self.log().paths().map(Path::to_path_buf).collect()
    }

    /// The same with the content that was read.
    pub fn log(&self) -> FileLog {
        let mut all = self.scene_files.clone().unwrap_or_default();
        all.extend(&self.shader_files);
        self.kernels.iter().for_each(|folder| all.extend(folder.files()));
        all
    }

    /// The last state without errors.
    pub fn state(&self) -> Option<&Arc<ProjectState>> {
        self.state.as_ref()
    }

    /// The errors in the files as they are now, if any. Edits do not change them.
    pub fn failure(&self) -> Option<&Arc<Failure>> {
        self.failure.as_ref()
    }

    /// Looks at the files, and does again what those touch that have changed.
    pub fn refresh(&mut self) -> Outcome {
        let scene_files = self.scene_files.as_mut().map(FileLog::changed);
        let read_scene = scene_files.as_ref().is_none_or(|files| !files.is_empty());
        let mut files = self.shader_files.changed();
        let edited_kernels = self.kernels.as_mut().map(kernels::Folder::refresh).unwrap_or_default();
        // The shaders of a scene with errors wait until those are fixed.
        let relink = read_scene || !(files.is_empty() || self.scene_is_broken);
        let mut redone = Redone { kernels: !edited_kernels.is_empty(), ..Redone::default() };
        files.extend(scene_files.into_iter().flatten().chain(edited_kernels));
        files.sort();
        files.dedup();
        redone.files = files;
        if !relink {
            return match self.state.clone().filter(|_| redone.kernels) {
                Some(state) => {
                    let specialized = Arc::default();
                    self.publish(ProjectState { redone, times: Times::default(), specialized, ..(*state).clone() })
                }
                None => Outcome::Unchanged,
            };
        }
        let mut times = Times::default();
        if read_scene {
            let start = Instant::now();
            redone.scene = true;
            if let Err(diagnostics) = self.read_scene() {
                return self.broken(diagnostics);
            }
            times.open = start.elapsed();
        }
        self.update(redone, times)
    }

    /// Changes a parameter of a shader instance of the last state; `None` gives it back the scene's
    /// value. The files are not checked, unless the parameter is a part of the code; so what is
    /// wrong with them stays wrong ([`Project::failure`]).
    ///
    /// # Errors
    /// When there is no such parameter, or the value has another type. Nothing is changed then.
    pub fn set_parameter(
        &mut self,
        instance: InstanceId,
        name: &str,
        value: Option<ParamValue>,
    ) -> Result<Outcome, EditError> {
        let state = self.state.clone().ok_or(EditError::NoScene)?;
        let number = instance.0 as usize;
        let unknown = || EditError::UnknownInstance(instance.0);
        let bound = state.program.instances.get(number).and_then(Option::as_ref).ok_or_else(unknown)?;
        let shader = &state.scene.shader_instances[number].shader;
        let declared = bound
            .shader
            .params
            .iter()
            .find(|p| p.name == name)
            .ok_or_else(|| EditError::UnknownParameter { shader: shader.to_string(), name: name.to_string() })?;
        let value = value.map(|value| {
            in_type(&value, declared).ok_or(EditError::WrongType {
                name: name.to_string(),
                expected: declared.type_name,
                found: value.type_name(),
            })
        });
        let value = value.transpose()?;
        let key = edits::keys(&state.scene).swap_remove(number);
        self.edits.set(key, name, value.clone());
        Ok(self.edited(&state, Some(instance), |parameters| {
            let params = &mut parameters.instances[number].params;
            params.iter_mut().filter(|p| p.name == name).for_each(|p| p.edited = value.clone());
        }))
    }

    /// Changes the scene's options. The files are not checked.
    ///
    /// # Errors
    /// When a value is impossible. Nothing is changed then.
    pub fn set_options(&mut self, edits: OptionEdits) -> Result<Outcome, EditError> {
        edits.check()?;
        self.edits.options = edits;
        let Some(state) = self.state.clone() else { return Ok(Outcome::Unchanged) };
        Ok(self.edited(&state, None, |parameters| parameters.option_edits = edits))
    }

    /// The state with the edits as they are now, of which those of `instance` or of options have
    /// changed; `note` puts them into the parameters.
    fn edited(
        &mut self,
        old: &ProjectState,
        instance: Option<InstanceId>,
        note: impl FnOnce(&mut Parameters),
    ) -> Outcome {
        let mut scene = (*old.as_read).clone();
        self.edits.apply(&mut scene);
        keep_meshes(&mut scene, &old.scene);
        let program = match instance {
            Some(InstanceId(id)) => old.program.with_parameters_of(&scene, ShaderId(id)),
            None => Some(old.program.clone()).filter(|program| !program.reads_options()),
        };
        let program = program.and_then(|mut program| {
            set_options(&mut program.constants, scene.max_depth, scene.background);
            set_view(&mut program.constants, &scene.camera, scene.format);
            Some(program).filter(|program| program.is_for(program.constants.vectors()))
        });
        // Where a parameter or an option is a part of the code, that is made again.
        let Some(program) = program else { return self.update(Redone::default(), Times::default()) };
        let mut state = ProjectState {
            scene: Arc::new(scene),
            program,
            redone: Redone { memory: instance.is_some(), ..Redone::default() },
            any_view: Arc::default(),
            specialized: Arc::default(),
            times: Times::default(),
            ..old.clone()
        };
        note(Arc::make_mut(&mut state.parameters));
        self.publish(state)
    }

    /// Publishes a state.
    fn publish(&mut self, mut state: ProjectState) -> Outcome {
        self.version += 1;
        (state.version, state.kernels) = (self.version, kernels::version());
        let state = Arc::new(state);
        self.state = Some(state.clone());
        Outcome::Ready(state)
    }

    /// Reads the scene's files.
    fn read_scene(&mut self) -> Result<(), Diagnostics> {
        let opened = self.source.open(&self.options.open, &mut self.sources);
        self.scene_files = Some(self.sources.take_log());
        self.scene_is_broken = opened.is_err();
        self.displacer.set_view(None);
        let mut opened = opened?;
        name_default_surface(&mut opened.scene);
        if let Some(old) = &self.state {
            share_meshes(&mut opened.scene, &old.as_read);
        }
        self.read = Some(Read { scene: Arc::new(opened.scene), diagnostics: opened.diagnostics });
        Ok(())
    }

    /// Links the scene and builds its trees, as far as they are not those of the last state.
    fn update(&mut self, mut redone: Redone, mut times: Times) -> Outcome {
        let Some(read) = self.read.clone() else { return Outcome::Unchanged };
        let start = Instant::now();
        let Read { scene: read, mut diagnostics } = read;
        let Linked { read, scene, mut program, displaced } = match self.link(read, &mut diagnostics, &mut times) {
            Ok(linked) => linked,
            Err(errors) => {
                diagnostics.extend(errors);
                return self.broken(diagnostics);
            }
        };
        times.link = start.elapsed() - times.displace;
        let start = Instant::now();
        let old = self.state.as_deref();
        let kept = old.filter(|old| is_same_geometry(&scene, &old.scene)).map(|old| old.bvh.clone());
        redone.tree = kept.is_none();
        let bvh = match kept {
            Some(tree) => Ok(tree),
            None => self.build_tree(&scene).map_err(|e| Diagnostics::from(Diagnostic::error(e))),
        };
        let bvh = match bvh {
            Ok(bvh) => bvh,
            Err(diagnostics) => return self.broken(diagnostics),
        };
        times.tree = start.elapsed();
        if let Some(old) = old {
            keep(&mut program.module, &old.program.module);
            keep(&mut program.memory, &old.program.memory);
        }
        redone.code = old.is_none_or(|old| !Arc::ptr_eq(&old.program.module, &program.module));
        redone.memory = old.is_none_or(|old| !Arc::ptr_eq(&old.program.memory, &program.memory));
        diagnostics.extend(program.diagnostics.clone());
        displaced.remarks.into_iter().for_each(|remark| diagnostics.push(remark));
        let parameters = Parameters::new(&read, &program, &self.edits);
        self.failure = None;
        self.publish(ProjectState {
            version: 0,
            as_read: read,
            film: FilmSettings::new(&scene.film, &program),
            scene: Arc::new(scene),
            program,
            bvh,
            parameters: Arc::new(parameters),
            diagnostics,
            displaced_triangles: displaced.triangles,
            kernels: 0,
            redone,
            times,
            link: self.link_options(),
            any_view: Arc::default(),
            specialized: Arc::default(),
            files: Arc::new(self.shader_files.clone()),
        })
    }

    /// Displaces and links the scene with the edits in it. Edits that it has no place for are
    /// forgotten.
    ///
    /// Shaders that are missing or wrong are left out, unless the options are strict or there is a
    /// state that had them: a shader that breaks while it is edited leaves the last image.
    fn link(
        &mut self,
        mut read: Arc<Scene>,
        diagnostics: &mut Diagnostics,
        times: &mut Times,
    ) -> Result<Linked, Diagnostics> {
        let keys = edits::keys(&read);
        let mut is_whole = true;
        self.shader_files = FileLog::default();
        loop {
            let mut scene = (*read).clone();
            self.edits.apply(&mut scene);
            let start = Instant::now();
            let options = self.link_options();
            let displaced = self.displacer.displace(&mut scene, &mut self.sources, &options);
            times.displace += start.elapsed();
            let sources = std::mem::take(&mut self.sources);
            let linked = link_cached(&scene, sources, &options, &mut self.units);
            let (sources, result) = match linked {
                Ok(program) => (program.sources.clone(), Ok(program)),
                Err(e) => (e.sources, Err((e.diagnostics, e.unusable))),
            };
            self.sources = sources;
            self.shader_files.extend(&self.sources.take_log());
            let mut program = match result {
                Ok(program) => program,
                Err((errors, unusable)) => {
                    read = self.without(read, &unusable).ok_or_else(|| errors.clone())?;
                    diagnostics.extend(errors);
                    is_whole = false;
                    continue;
                }
            };
            if is_whole {
                self.left_out.clear();
            }
            let displaced = match displaced {
                Ok(displaced) => displaced,
                Err(errors) if self.options.open.strict => return Err(errors),
                Err(errors) => {
                    diagnostics.extend(errors);
                    Displaced::default()
                }
            };
            let _ = program.sources.take_log();
            let fits = |number: usize, name: &str, value: &ParamValue| {
                let bound = program.instances[number].as_ref();
                let param = bound.and_then(|b| b.shader.params.iter().find(|p| p.name == name));
                param.is_some_and(|p| in_type(value, p).is_some())
            };
            if !self.edits.retain(&keys, fits) {
                return Ok(Linked { read, scene, program, displaced });
            }
        }
    }

    /// The scene without shaders that cannot be used; `None` where it needs them.
    fn without(&mut self, scene: Arc<Scene>, unusable: &Unusable) -> Option<Arc<Scene>> {
        if self.options.open.strict || unusable.is_empty() {
            return None;
        }
        let names = unusable.shaders.iter().map(|id| scene.shader_instances[id.0 as usize].shader.to_string());
        let names: HashSet<String> = names.collect();
        if self.state.is_some() && !names.is_subset(&self.left_out) {
            return None;
        }
        self.left_out.extend(names);
        let mut scene = Arc::unwrap_or_clone(scene);
        scene.leave_out(unusable);
        (!scene.shows_nothing()).then(|| scene.into())
    }

    fn link_options(&self) -> LinkOptions {
        LinkOptions {
            shader_paths: self.options.shader_paths.clone(),
            pipeline: self.options.pipeline.clone(),
            strict: self.options.open.strict,
            math: self.options.math,
            specialize: self.options.specialize,
            host: self.options.host.clone(),
            ..LinkOptions::default()
        }
    }

    fn build_tree(&self, scene: &Scene) -> Result<Arc<TwoLevel>, String> {
        let format = scene.format;
        check_size(format.width, format.height).map_err(|e| e.to_string())?;
        let pixels = self.options.pixels.unwrap_or(u64::from(format.width) * u64::from(format.height));
        let samples = self.options.samples.unwrap_or(scene.pixel_samples[0] * scene.pixel_samples[1]);
        let usual = || default_quality(triangles_to_build(scene), pixels.saturating_mul(samples.into()));
        let quality = self.options.tree.unwrap_or_else(usual);
        let tree = build_tree(scene, &BuildOptions { quality, ..BuildOptions::default() });
        tree.map(Arc::new).map_err(|e| e.to_string())
    }

    fn broken(&mut self, diagnostics: Diagnostics) -> Outcome {
        let failure = Arc::new(Failure { diagnostics, sources: self.sources.clone() });
        self.failure = Some(failure.clone());
        Outcome::Broken(failure)
    }
}

/// A scene that is ready for its tree.
struct Linked {
    /// As it was read, less the shaders that are left out.
    read: Arc<Scene>,
    scene: Scene,
    program: Program,
    displaced: Displaced,
}

/// Takes the old one where they are equal.
fn keep<T: PartialEq>(new: &mut Arc<T>, old: &Arc<T>) {
    if **new == **old {
        *new = old.clone();
    }
}

/// Gives meshes without a surface the default one by its name, so that its parameters can be
/// edited. A procedural primitive may be a material, too.
fn name_default_surface(scene: &mut Scene) {
    let has_default = |o: &scene::Object| o.surface.is_none() && o.procedural.is_none();
    if !scene.objects.iter().any(has_default) {
        return;
    }
    let id = ShaderId(scene.shader_instances.len() as u32);
    scene.shader_instances.push(ShaderInstance {
        kind: ShaderRole::Surface,
        shader: ShaderRef::new(DEFAULT_SURFACE),
        params: Vec::new(),
        to_world: Mat4::IDENTITY,
        span: None,
        objects: Default::default(),
    });
    scene.objects.iter_mut().filter(|o| has_default(o)).for_each(|o| o.surface = Some(id));
}

/// Objects whose meshes are those of the old scene's objects hold the old meshes.
fn share_meshes(scene: &mut Scene, old: &Scene) {
    let mut known: HashMap<*const Mesh, Arc<Mesh>> = HashMap::new();
    for (object, old) in scene.objects.iter_mut().zip(&old.objects) {
        let shared = known.entry(Arc::as_ptr(&object.mesh)).or_insert_with(|| {
            let same = object.mesh == old.mesh;
            if same { old.mesh.clone() } else { object.mesh.clone() }
        });
        object.mesh = shared.clone();
    }
}

/// True if two scenes that share their meshes have the same tree.
fn is_same_geometry(a: &Scene, b: &Scene) -> bool {
    let same = |(a, b): (&scene::Object, &scene::Object)| {
        Arc::ptr_eq(&a.mesh, &b.mesh)
            && a.mesh_space == b.mesh_space
            && a.object_to_world == b.object_to_world
            && a.sides == b.sides
    };
    a.objects.len() == b.objects.len() && a.objects.iter().zip(&b.objects).all(same)
}
