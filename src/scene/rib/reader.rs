//! The reader's loop and what it keeps: the scene so far, the graphics state, the open blocks, the
//! messages.

use super::super::files::FileAccess;
use super::super::framing;
use super::super::{
    CameraFrame, CoShader, Current, Format, Integrator, ObjectAttributes, OpenOptions, Opened, Scene, ShaderId,
    ShaderInstance,
};
use super::args::Args;
use super::condition::{Conditional, Value};
use super::lexer::{Lexer, Token};
use super::light_sets::LightSets;
use super::objects::{self, Retained};
use super::options;
use super::params::Declarations;
use super::primitives::dicing::Budget;
use super::requests::{self, Handler};
use super::ris;
use super::solids::Solids;
use super::state::{Block, BlockKind, GraphicsState};
use glam::{Mat4, Vec3};
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::source::{FileId, SourceMap, Span};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Deepest nest of blocks.
pub const MAX_NESTING: usize = 1000;
/// Errors after which the rest of a file is not read, where it is read strictly.
const MAX_ERRORS: usize = 20;
/// Different errors after which it is not read in any case.
const MAX_KINDS_OF_ERRORS: usize = 1000;
/// Different unknown requests that are warned about by name.
const MAX_UNKNOWN: usize = 20;

/// How far the scene's one world has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum World {
    /// Options and the camera are being set.
    Before,
    /// Geometry is being declared.
    Inside,
    /// The world has ended: the rest of the file belongs to other images.
    After,
}

/// The files of a scene: the one that the user names, and archives.
#[derive(Default)]
pub struct Archives {
    /// The files being read, the innermost last; `None` for built-in text.
    pub open: Vec<Option<PathBuf>>,
    /// The number of archives read.
    pub count: usize,
    /// Bytes of archives so far.
    pub bytes: u64,
    /// The archives whose text the sources hold.
    pub texts: HashMap<PathBuf, FileId>,
    /// The files of archives, meshes too.
    pub known: HashSet<PathBuf>,
    /// Archives within files: the text that they are part of, its file, and the range there.
    pub inline: HashMap<String, (FileId, Option<PathBuf>, Range<usize>)>,
}

/// The frames of a scene, of which one is read.
#[derive(Default)]
pub struct Frames {
    /// The frame that the user asked for.
    asked: Option<i32>,
    /// The frame to read; the first once there is one.
    pub number: Option<i32>,
    /// The frames of the file so far.
    pub all: Vec<i32>,
    /// The frames whose display is a shadow map.
    pub depths: Vec<i32>,
    /// The number of worlds, where a file has several and no frames: each is a frame.
    pub worlds: Option<i32>,
}

/// The choices of the user that replace those of the scene.
pub struct Overrides {
    /// The size of the image in pixels.
    size: Option<(u32, u32)>,
    /// The integrator.
    pub integrator: Option<Integrator>,
    /// The shutter's share at which the scene is read, from 0 to 1.
    time: f32,
    /// True if the scene may run programs.
    pub allow_run: bool,
    /// True if a scene without lights gets one at the camera.
    headlight: bool,
    /// True if any error is one too many.
    strict: bool,
}

/// The space that shaders compute in.
struct CurrentSpace {
    space: Current,
    /// True if the user asks for it.
    is_asked: bool,
    /// True if the scene names it.
    is_named: bool,
    /// World space to that space, from `WorldBegin` on.
    from_world: Mat4,
}

/// The patterns and materials of RIS, by their handles.
#[derive(Default)]
pub struct Nodes {
    pub patterns: HashMap<String, ris::Pattern>,
    pub materials: HashMap<String, ris::Surface>,
}

/// The lights of the scene.
#[derive(Default)]
pub struct Lights {
    /// Their numbers by handle.
    pub handles: BTreeMap<String, u32>,
    /// The lights that illuminate what is made now.
    pub sets: LightSets,
}

/// The diagnostics so far, and how reading goes on.
struct Messages {
    report: Diagnostics,
    /// Warnings that are given once.
    warned: HashSet<String>,
    /// The number of requests that are not of RIB.
    unknown: usize,
    /// The number of requests of RIB.
    known: usize,
    /// True if no image can be made of what was read.
    fatal: bool,
    /// True if the rest of the file is not read.
    stopped: bool,
}

/// Reads one scene.
pub struct Reader<'s> {
    pub scene: Scene,
    pub sources: &'s mut SourceMap,
    pub state: GraphicsState,
    pub declarations: Declarations,
    pub world: World,
    /// The camera's frame, known from `WorldBegin` on.
    pub frame: CameraFrame,
    pub lights: Lights,
    pub access: FileAccess,
    pub archives: Archives,
    pub frames: Frames,
    pub overrides: Overrides,
    pub nodes: Nodes,
    pub triangles: usize,
    /// Of triangles.
    pub budget: Budget,
    pub retained: Retained,
    /// `RelativeDetail`
    pub relative_detail: f32,
    pub solids: Solids,
    /// The red, green and blue of each sample of a color, where colors have others.
    pub color_samples: Vec<Vec3>,
    /// Zero-area triangles so far, and the first primitive that had one.
    pub zero_area: Option<(usize, Span)>,
    /// True if something moves.
    pub moves: bool,
    /// The open conditional parts.
    pub conditionals: Vec<Conditional>,
    current: CurrentSpace,
    messages: Messages,
    blocks: Vec<Block>,
    /// The request up to which everything is skipped, and what began that.
    skip_until: Option<(&'static str, &'static str, Span)>,
    /// The first geometry before any `WorldBegin`: the file is an archive, unless a world follows.
    fragment: Option<Span>,
}

impl<'s> Reader<'s> {
    /// A reader in RI's initial state.
    pub fn new(
        name: &str,
        access: FileAccess,
        options: &OpenOptions,
        budget: Budget,
        sources: &'s mut SourceMap,
    ) -> Self {
        let mut scene = Scene::empty(name);
        scene.access = access.clone();
        scene.embedded = options.rendered.clone();
        let own: Vec<PathBuf> = access.base.iter().cloned().collect();
        scene.search_paths.shader = own.clone();
        scene.search_paths.texture = own.clone();
        scene.search_paths.archive = own;
        Self {
            frame: scene.camera_frame(),
            scene,
            sources,
            state: GraphicsState::default(),
            declarations: Declarations::default(),
            world: World::Before,
            lights: Lights::default(),
            access,
            archives: Archives::default(),
            frames: Frames { asked: options.frame, number: options.frame, ..Frames::default() },
            overrides: Overrides {
                size: options.size,
                integrator: options.integrator,
                time: options.time,
                allow_run: options.allow_run,
                headlight: options.headlight,
                strict: options.strict,
            },
            nodes: Nodes::default(),
            triangles: 0,
            budget,
            retained: Retained::default(),
            relative_detail: 1.0,
            solids: Solids::default(),
            color_samples: Vec::new(),
            zero_area: None,
            moves: false,
            conditionals: Vec::new(),
            current: CurrentSpace {
                space: options.current.unwrap_or_default(),
                is_asked: options.current.is_some(),
                is_named: false,
                from_world: Mat4::IDENTITY,
            },
            messages: Messages {
                report: Diagnostics::new(),
                warned: HashSet::new(),
                unknown: 0,
                known: 0,
                fatal: false,
                stopped: false,
            },
            blocks: Vec::new(),
            skip_until: None,
            fragment: None,
        }
    }

    /// Reads the scene's main file; `Err` holds the budget to read it with again.
    pub fn read(mut self, file: FileId, path: Option<&Path>) -> Result<Result<Opened, Diagnostics>, Budget> {
        self.apply_size();
        let text = self.sources.get(file).map(|f| f.text.clone()).unwrap_or_default();
        if !text.contains("FrameBegin") && text.matches("WorldBegin").nth(1).is_some() {
            self.frames.worlds = Some(0);
            self.frames.number.get_or_insert(1);
        }
        self.closed(|r| r.run(file, path.map(Path::to_path_buf)));
        match self.budget.next() {
            Some(budget) => Err(budget),
            None => Ok(self.finish(file)),
        }
    }

    fn finish(mut self, file: FileId) -> Result<Opened, Diagnostics> {
        if self.messages.known == 0 {
            return Err(no_rib(&self.scene.name).into());
        }
        if let Some(count) = self.frames.worlds.filter(|n| *n > 1) {
            self.frames.all = (1..=count).collect();
        }
        if let Some(frame) = self.frames.number.filter(|f| !self.frames.all.is_empty() && !self.frames.all.contains(f))
        {
            let (first, last) = (self.frames.all.iter().min(), self.frames.all.iter().max());
            let range =
                first.zip(last).map_or_else(String::new, |(a, b)| format!("its frames lie between {a} and {b}"));
            let missing = Diagnostic::error(format!("`{}` has no frame {frame}", self.scene.name));
            return Err(missing.hint(range).into());
        }
        if self.fragment.is_none() && self.world == World::Before && !self.messages.report.has_errors() {
            let end = self.sources.get(file).map_or(0, |f| f.text.len());
            self.error(
                Diagnostic::error("the scene has no `WorldBegin`")
                    .at(Span::new(file, end, end), "the file ends here")
                    .hint("put the geometry between `WorldBegin` and `WorldEnd`"),
            );
        }
        if let Some((count, span)) = self.zero_area {
            let triangles = if count == 1 { "triangle" } else { "triangles" };
            self.warn(
                Diagnostic::warning(format!("{count} zero-area {triangles} skipped"))
                    .at(span, "the first is in this primitive"),
            );
        }
        if let Some(warning) = self.budget.warning() {
            self.warn(warning);
        }
        if self.messages.unknown > MAX_UNKNOWN {
            let more = self.messages.unknown - MAX_UNKNOWN;
            self.warn(Diagnostic::warning(format!("{more} more kinds of unknown requests skipped")));
        }
        if self.messages.fatal
            || self.messages.report.has_errors() && (self.overrides.strict || self.scene.shows_nothing())
        {
            return Err(self.messages.report);
        }
        if self.fragment.is_some() {
            framing::frame_objects(&mut self.scene);
        } else if self.overrides.headlight && self.scene.lights.is_empty() {
            framing::add_headlight(&mut self.scene);
        }
        if self.scene.objects.is_empty() {
            self.warn(Diagnostic::warning("the scene has no visible object"));
        }
        if let (None, [first, _, ..]) = (self.frames.asked, self.frames.all.as_slice()) {
            let (first, count) = (*first, self.frames.all.len());
            self.warn(
                Diagnostic::warning(format!("the file has {count} frames, of which only frame {first} is read"))
                    .hint("without --frames, `render` renders all of them; --frames A..B a range"),
            );
        }
        if let (Some(frame), true) = (self.frames.number, self.is_shadow_map()) {
            self.frames.depths.push(frame);
        }
        drop_unused_shaders(&mut self.scene);
        self.scene.flatten_small();
        let [open, close] = self.scene.film.shutter;
        (self.scene.film.moves, self.scene.film.time) = (self.moves && open < close, self.time());
        Ok(Opened {
            scene: self.scene,
            diagnostics: self.messages.report,
            frames: self.frames.all,
            depth_frames: self.frames.depths,
        })
    }

    /// Reads something that must close the blocks that it opens.
    pub fn closed<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let (outer_blocks, outer_conditionals) = (self.blocks.len(), self.conditionals.len());
        let result = read(self);
        self.close_open(outer_blocks, outer_conditionals);
        result
    }

    /// Reads the requests of a file that `sources` holds, as if they stood where it is read from
    /// (RISpec 3.2, §7.1): blocks may be open after it.
    pub fn run(&mut self, file: FileId, path: Option<PathBuf>) {
        let end = self.sources.get(file).map_or(0, |f| f.text.len());
        self.run_part(file, path, 0..end);
    }

    /// Reads a part of such a file.
    pub fn run_part(&mut self, file: FileId, path: Option<PathBuf>, part: Range<usize>) {
        let Some(text) = self.sources.get(file).map(|f| f.text.clone()) else { return };
        let mut lexer = Lexer::new(file, &text, part);
        self.archives.open.push(path);
        let mut previous = None;
        // Messages quote lines. Of a file that is none of ours they are nobody's to see, so messages
        // wait for a known request.
        let known = self.messages.known;
        let before = std::mem::take(&mut self.messages.report);
        while !self.messages.stopped {
            match lexer.next_token() {
                Ok((Token::End, _)) => break,
                Ok((Token::Request(name), span)) => {
                    self.request(name, span, &mut lexer);
                    previous = Some(name);
                }
                Ok((found, span)) => {
                    let after = previous.map_or(String::new(), |p| format!(" after `{p}`"));
                    self.error(
                        Diagnostic::error(format!("expected a request{after}, found {}", found.describe()))
                            .at(span, "expected a request"),
                    );
                    recover(&mut lexer);
                }
                Err(d) => self.error(d),
            }
        }
        let own = std::mem::replace(&mut self.messages.report, before);
        if self.messages.known == known && !own.is_empty() {
            let name = self.sources.get(file).map_or("", |f| &*f.name);
            self.messages.report.push(no_rib(name));
        } else {
            self.messages.report.extend(own);
        }
        self.archives.open.pop();
    }

    /// Reports the blocks that are open beside so many outer ones, and closes them.
    fn close_open(&mut self, outer_blocks: usize, outer_conditionals: usize) {
        if self.messages.stopped {
            return;
        }
        while self.conditionals.len() > outer_conditionals {
            if let Some(open) = self.conditionals.pop() {
                self.error(unclosed("IfBegin", "IfEnd", open.span));
            }
        }
        if let Some((end_name, begin_name, span)) = self.skip_until.take() {
            self.error(unclosed(begin_name, end_name, span));
        }
        while self.blocks.len() > outer_blocks {
            if let Some(block) = self.blocks.pop() {
                self.error(unclosed(block.kind.begin(), block.kind.end(), block.span));
                block.restore(&mut self.state);
            }
        }
    }

    fn request<'a>(&mut self, name: &'a str, span: Span, lexer: &mut Lexer<'a>) {
        let known = requests::find(name);
        let mut args = Args::new(lexer, name, span, known.map_or("", |r| r.usage));
        let skips = self.skips(name);
        let result = if skips && known.is_none() && self.world == World::After && self.skip_until.is_none() {
            self.unknown_request(name, span);
            args.skip()
        } else if self.skip_until.is_some() && skips && name == "Display" {
            options::display_passed_over(self, &mut args)
        } else if skips || objects::passed_over(self, name, span) {
            args.skip()
        } else if let Some(request) = known {
            self.messages.known += 1;
            (request.handler as Handler)(self, &mut args)
        } else {
            self.unknown_request(name, span);
            args.skip()
        };
        if let Err(d) = result {
            self.error(d);
            recover(lexer);
        }
    }

    /// True if a request is to be passed over where the reader is.
    fn skips(&mut self, name: &str) -> bool {
        if let Some((end, ..)) = self.skip_until {
            if name == end {
                self.skip_until = None;
            }
            return true;
        }
        // Conditional parts say themselves what is read of them.
        if matches!(name, "IfBegin" | "ElseIf" | "Else" | "IfEnd") {
            return false;
        }
        if !self.reads_conditional() {
            return true;
        }
        let structural = ["FrameBegin", "FrameEnd", "WorldBegin", "WorldEnd", "AttributeBegin", "AttributeEnd"];
        self.world == World::After && !structural.contains(&name) && !name.starts_with("Transform")
    }

    fn unknown_request(&mut self, name: &str, span: Span) {
        if !self.messages.warned.insert(format!("request {name}")) {
            return;
        }
        self.messages.unknown += 1;
        if self.messages.unknown > MAX_UNKNOWN {
            return;
        }
        let mut d =
            Diagnostic::warning(format!("the request `{name}` is not supported")).at(span, "skipped here and below");
        if let Some(known) = requests::similar(name) {
            d = d.hint(format!("did you mean `{known}`?"));
        }
        self.warn(d);
    }

    /// True if the only display so far is a shadow map.
    pub fn is_shadow_map(&self) -> bool {
        matches!(self.scene.film.displays.as_slice(), [display] if display.is_depth())
    }

    /// Skips everything up to the request `end`.
    pub fn skip_to(&mut self, end: &'static str, begin: &'static str, span: Span) {
        self.skip_until = Some((end, begin, span));
    }

    /// True if no condition forbids to read on.
    pub fn reads_conditional(&self) -> bool {
        self.conditionals.last().is_none_or(|c| c.active)
    }

    /// The time at which the scene is read, in its own unit.
    pub fn time(&self) -> f32 {
        let [open, close] = self.scene.film.shutter;
        open + self.overrides.time * (close - open)
    }

    /// A variable of a condition: the frame's number, or what a file gave as an attribute or an
    /// option of the user's.
    pub fn variable(&self, name: &str) -> Option<Value> {
        if name.eq_ignore_ascii_case("frame") {
            return self.frames.number.map(|n| Value::Number(n.into()));
        }
        let (place, name) = match name.split_once(":user:") {
            Some((place, name)) => (place, name),
            None => ("", name.strip_prefix("user:")?),
        };
        let attribute = self.state.attributes.own.user.get(name).filter(|_| place != "Option");
        attribute
            .or_else(|| self.scene.user_options.get(name).filter(|_| place != "Attribute"))
            .and_then(Value::from_param)
    }

    /// Begins a world. Geometry before it is reported and left out.
    pub fn begin_world(&mut self) {
        if let Some(span) = self.fragment.take() {
            let d = Diagnostic::error("geometry before `WorldBegin` is not shown");
            self.error(d.at(span, "the first").hint("put it between `WorldBegin` and `WorldEnd`"));
            self.scene.objects.clear();
        }
    }

    /// Admits geometry. Where no world has begun, it makes the file an archive.
    pub fn admit_geometry(&mut self, span: Span) {
        if self.world == World::Before && !self.retained.is_open() {
            self.fragment.get_or_insert(span);
        }
    }

    /// Adds an error; after too many, reading stops.
    pub fn error(&mut self, d: Diagnostic) {
        if self.messages.stopped {
            return;
        }
        self.messages.report.push(d);
        let errors = if self.overrides.strict {
            self.messages.report.error_count()
        } else {
            self.messages.report.iter().count()
        };
        if errors >= if self.overrides.strict { MAX_ERRORS } else { MAX_KINDS_OF_ERRORS } {
            self.messages.stopped = true;
            self.messages.report.push(Diagnostic::error(format!("{errors} errors: the rest of the scene is not read")));
        }
    }

    /// Adds an error unless one was given for this `topic`.
    pub fn error_once(&mut self, topic: &str, d: Diagnostic) {
        if self.messages.warned.insert(topic.to_string()) {
            self.error(d);
        }
    }

    /// Adds an error after which nothing else is read.
    pub fn fatal(&mut self, d: Diagnostic) {
        self.error(d);
        (self.messages.stopped, self.messages.fatal) = (true, true);
    }

    /// True if any error refuses the scene.
    pub fn is_strict(&self) -> bool {
        self.overrides.strict
    }

    /// Reads nothing else.
    pub fn stop(&mut self) {
        self.messages.stopped = true;
    }

    /// Adds a warning.
    pub fn warn(&mut self, d: Diagnostic) {
        self.messages.report.push(d);
    }

    /// Adds a warning unless one was given for this `topic`.
    pub fn warn_once(&mut self, topic: &str, d: Diagnostic) {
        if self.messages.warned.insert(topic.to_string()) {
            self.messages.report.push(d);
        }
    }

    /// The command line's size wins over the scene's.
    pub fn apply_size(&mut self) {
        if let Some((width, height)) = self.overrides.size {
            self.scene.format = Format { width, height, ..self.scene.format };
        }
    }

    /// Opens a block.
    pub fn open(&mut self, kind: BlockKind, span: Span) {
        if self.blocks.len() >= MAX_NESTING {
            self.fatal(
                Diagnostic::error(format!("{}: blocks are nested more than {MAX_NESTING} deep", kind.begin()))
                    .at(span, "this one is too deep")
                    .hint(format!("close blocks with `{}`", kind.end())),
            );
            return;
        }
        self.blocks.push(Block { kind, span, saved: self.state.clone() });
    }

    /// True if a block of this kind is open.
    pub fn is_open(&self, kind: BlockKind) -> bool {
        self.blocks.iter().any(|b| b.kind == kind)
    }

    /// Closes a block.
    ///
    /// # Errors
    ///
    /// When the innermost open block is of another kind, or none is open. If one of the kind is
    /// open further out, all up to it are closed, so that reading can continue.
    pub fn close(&mut self, kind: BlockKind, span: Span) -> Result<(), Diagnostic> {
        let inner = self.blocks.last().map(|b| (b.kind, b.span));
        let result = match inner {
            Some((k, _)) if k == kind => Ok(()),
            Some((k, opened)) => Err(Diagnostic::error(format!("`{}` cannot close `{}`", kind.end(), k.begin()))
                .at(span, format!("expected `{}`", k.end()))
                .also(opened, format!("`{}` is still open", k.begin()))),
            None => Err(Diagnostic::error(format!("`{}` without `{}`", kind.end(), kind.begin()))
                .at(span, "no block is open here")),
        };
        if let Some(at) = self.blocks.iter().rposition(|b| b.kind == kind) {
            for block in self.blocks.drain(at..).rev() {
                block.restore(&mut self.state);
            }
        }
        result
    }

    /// Sets the space that shaders compute in, unless the command line has set it.
    pub fn set_current(&mut self, current: Current, span: Span) {
        if self.world != World::Before {
            self.warn(
                Diagnostic::warning("the space that shaders compute in is set too late")
                    .at(span, "this has no effect")
                    .hint("Option \"shading\" \"string current\" stands before `WorldBegin`"),
            );
        } else if !self.current.is_asked {
            self.current.space = current;
            self.current.is_named = true;
        }
    }

    /// The transform of a primitive that is declared in world space, or in the space of the object
    /// that is being defined.
    pub fn outermost_transform(&self) -> Mat4 {
        if self.retained.is_open() { Mat4::IDENTITY } else { self.current.from_world }
    }

    /// True if the space of a transform is left-handed in camera space. An object's definition
    /// stands in world space.
    pub fn is_left_handed(&self, transform: Mat4) -> bool {
        let around = if self.retained.is_open() { self.current.from_world.determinant() } else { 1.0 };
        transform.determinant() * around * self.scene.camera.world_to_camera.determinant() > 0.0
    }

    /// Enters the world, whose transform from world space to camera space this is. Everything that
    /// was placed in camera space is taken to world space, unless shaders compute in camera space:
    /// then the world is placed in that.
    pub fn enter_world(&mut self, world_to_camera: Mat4) {
        let (world_to_camera, world_to_current) = match self.current.space {
            Current::World => (world_to_camera, Mat4::IDENTITY),
            Current::Camera => (Mat4::IDENTITY, world_to_camera),
        };
        let camera_to_world = world_to_camera.inverse();
        self.scene.camera.world_to_camera = world_to_camera;
        for instance in &mut self.scene.shader_instances {
            instance.to_world = camera_to_world * instance.to_world;
            for (_, value) in &mut instance.params {
                *value = value.clone().transformed(camera_to_world);
            }
        }
        for matrix in self.scene.coordinate_systems.values_mut() {
            *matrix = camera_to_world * *matrix;
        }
        self.scene.coordinate_systems.insert("world".to_string(), world_to_current);
        self.scene.coordinate_systems.insert("camera".to_string(), camera_to_world);
        self.frame = self.scene.camera_frame();
        self.scene.current_is_open =
            !self.current.is_asked && !self.current.is_named && world_to_camera != Mat4::IDENTITY;
        self.current.from_world = world_to_current;
        self.state.transform = world_to_current;
        self.world = World::Inside;
    }

    /// Makes a light illuminate what follows, here and after the open attribute blocks.
    pub fn illuminate_everywhere(&mut self, light: u32) {
        self.state.attributes.illuminate(light, true);
        self.blocks.iter_mut().for_each(|block| block.saved.attributes.illuminate(light, true));
    }

    /// Adds a shader instance.
    pub fn add_shader(&mut self, instance: ShaderInstance) -> ShaderId {
        self.scene.shader_instances.push(instance);
        ShaderId(self.scene.shader_instances.len() as u32 - 1)
    }
}

/// The error of a file without a request that is known. It shows nothing of the file.
fn no_rib(name: &str) -> Diagnostic {
    Diagnostic::error(format!("`{name}` holds no RIB request"))
        .hint("a scene has at least `WorldBegin`, some geometry and `WorldEnd`")
}

fn unclosed(begin: &str, end: &str, span: Span) -> Diagnostic {
    Diagnostic::error(format!("`{begin}` is never closed"))
        .at(span, "opened here")
        .hint(format!("add the missing `{end}`"))
}

/// Skips to what looks like the next request. Request names start with a capital, except `version`.
fn recover(lexer: &mut Lexer<'_>) {
    loop {
        match lexer.peek() {
            Ok((Token::End, _)) => return,
            Ok((Token::Request(name), _))
                if name == "version" || name.starts_with(|c: char| c.is_ascii_uppercase()) =>
            {
                return;
            }
            Ok(_) => {
                // Cannot fail: the token has been seen.
                let _ = lexer.next_token();
            }
            // Skipped by the lexer; one mistake, one message.
            Err(_) => {}
        }
    }
}

/// Drops shader instances that no object uses: a scene may set many and use few.
fn drop_unused_shaders(scene: &mut Scene) {
    let mut used = vec![false; scene.shader_instances.len()];
    let ids =
        scene.objects.iter().flat_map(|o| o.surface.into_iter().chain(o.procedural).chain(o.attributes.shaders()));
    let ids = ids.chain(scene.lights.iter().map(|l| l.shader)).chain(scene.imager).chain(scene.camera_shader);
    let mut work: Vec<ShaderId> = ids.collect();
    while let Some(id) = work.pop() {
        if !std::mem::replace(&mut used[id.0 as usize], true) {
            // An object of a class may refer to others, each by its handle.
            let instance = &scene.shader_instances[id.0 as usize];
            if instance.shader.is_class() {
                work.extend(instance.objects.iter().map(|o| o.shader));
            }
        }
    }
    let mut count = 0;
    let new_ids: Vec<ShaderId> = used
        .iter()
        .map(|&u| {
            count += u32::from(u);
            ShaderId(count.saturating_sub(1))
        })
        .collect();
    let mut flags = used.iter();
    scene.shader_instances.retain(|_| flags.next().copied().unwrap_or(false));
    let renumber = |id: &mut ShaderId| *id = new_ids[id.0 as usize];
    scene.objects.iter_mut().flat_map(|o| o.surface.iter_mut().chain(&mut o.procedural)).for_each(renumber);
    scene.lights.iter_mut().map(|l| &mut l.shader).for_each(renumber);
    scene.imager.iter_mut().chain(&mut scene.camera_shader).for_each(renumber);
    for instance in &mut scene.shader_instances {
        let kept = instance.objects.iter().filter(|o| used[o.shader.0 as usize]);
        instance.objects =
            kept.map(|o| CoShader { shader: new_ids[o.shader.0 as usize], handle: o.handle.clone() }).collect();
    }
    // Objects that share their attributes keep sharing them.
    let mut known: HashMap<*const ObjectAttributes, [Arc<ObjectAttributes>; 2]> = HashMap::new();
    for object in scene.objects.iter_mut().filter(|o| o.attributes.shaders().next().is_some()) {
        let old = object.attributes.clone();
        let [_, renumbered] = known.entry(Arc::as_ptr(&old)).or_insert_with(|| {
            let mut attributes = (*old).clone();
            attributes.renumber(|id| new_ids[id.0 as usize]);
            [old, attributes.into()]
        });
        object.attributes = renumbered.clone();
    }
}
