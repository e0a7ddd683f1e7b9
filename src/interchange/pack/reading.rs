//! Reads and links a scene as renderers do, frame after frame, for the files that this reads and
//! the messages that it gives. No geometry is kept and no image rendered.

use super::sha256::Sha256;
use super::{PackError, PackOptions, Step, Watch};
use glam::Mat4;
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::log::FileLog;
use shadewright_base::text::source::SourceMap;
use shadewright_geometry::primvar::PrimvarValues;
use shadewright_image::Image;
use shadewright_image::file::to_exr;
use shadewright_lang::registry;
use shadewright_program::{LinkOptions, Program, ProgramPurpose, ShaderCache, link_cached};
use shadewright_scene::{self as scene, OpenOptions, Opened, Scene, SearchPaths, ShaderId, VisitedValues};
use shadewright_texture::DepthMap;
use shadewright_texture::pointcloud::{PointCloud, ply};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A frame that was read.
#[derive(Debug)]
pub struct Frame {
    /// The number of the frame; `None` of a scene without frames.
    pub number: Option<i32>,
    /// The search paths of the frame.
    pub lists: SearchPaths,
    /// The files that it reads, as they were found; frames that read the same share them.
    pub read: Arc<BTreeSet<PathBuf>>,
}

/// The result of reading a scene.
#[derive(Debug, Default)]
pub struct Reading {
    /// The texts of RIB files and shaders.
    pub sources: SourceMap,
    /// Messages, those of all frames.
    pub diagnostics: Diagnostics,
    /// The frames, in the scene's order.
    pub frames: Vec<Frame>,
}

/// Reads a scene.
///
/// # Errors
/// [`PackError::Scene`] where a renderer refuses it, and [`PackError::Interrupted`].
pub fn read(
    path: &Path,
    options: &PackOptions,
    step: fn(usize, usize) -> Step,
    watch: Watch<'_>,
) -> Result<Reading, PackError> {
    let mut reader = Reader {
        path,
        options,
        out: Reading::default(),
        units: [ShaderCache::default(), ShaderCache::default()],
        linked: HashMap::new(),
        earlier: BTreeMap::new(),
    };
    let opened = reader.open(None)?;
    let numbers = frames_of(path, &opened, options);
    if let (true, false, Some([first, last])) = (numbers.is_empty(), scene::is_gltf(path), options.frames) {
        return Err(PackError::NoFrame { first, last });
    }
    if numbers.is_empty() {
        watch.step(step(0, 1))?;
        let log = reader.out.sources.take_log();
        reader.frame(None, opened, log)?;
        return Ok(reader.out);
    }
    // The first frame is read again, by its number.
    let _ = reader.out.sources.take_log();
    for (i, number) in numbers.iter().enumerate() {
        watch.step(step(i, numbers.len()))?;
        let opened = reader.open(Some(*number))?;
        let log = reader.out.sources.take_log();
        reader.frame(Some(*number), opened, log)?;
    }
    Ok(reader.out)
}

/// The numbers of a scene's frames, where they may read different files: those that are asked for,
/// and the shadow maps before them.
fn frames_of(path: &Path, opened: &Opened, options: &PackOptions) -> Vec<i32> {
    if scene::is_gltf(path) || opened.frames.is_empty() {
        return Vec::new();
    }
    let is_asked = |n: &i32| options.frames.is_none_or(|[first, last]| (first..=last).contains(n));
    let before = opened.frames.iter().take_while(|n| !is_asked(n)).filter(|n| opened.depth_frames.contains(n));
    let mut numbers: Vec<i32> = before.chain(opened.frames.iter().filter(|n| is_asked(n))).copied().collect();
    numbers.dedup();
    numbers
}

struct Reader<'a> {
    path: &'a Path,
    options: &'a PackOptions,
    out: Reading,
    /// Compiled files for images, and for displacement.
    units: [ShaderCache; 2],
    /// The files that linking reads, by all that they depend on: frames often differ in geometry alone.
    linked: HashMap<String, FileLog>,
    /// Stand-ins for the images of earlier frames, by the names of their displays, and for what their
    /// shaders bake.
    earlier: BTreeMap<String, Arc<[u8]>>,
}

impl Reader<'_> {
    fn open(&mut self, frame: Option<i32>) -> Result<Opened, PackError> {
        let rendered = self.earlier.clone();
        let options = OpenOptions { frame, rendered, ..self.options.open.clone() };
        scene::open(self.path, &options, &mut self.out.sources).map_err(|d| self.refused(d))
    }

    fn refused(&mut self, diagnostics: Diagnostics) -> PackError {
        let mut all = std::mem::take(&mut self.out.diagnostics);
        all.extend(diagnostics);
        PackError::Scene { diagnostics: all.into(), sources: std::mem::take(&mut self.out.sources).into() }
    }

    fn frame(&mut self, number: Option<i32>, opened: Opened, mut log: FileLog) -> Result<(), PackError> {
        let Opened { scene, diagnostics, .. } = opened;
        self.out.diagnostics.extend(diagnostics);
        let lists = scene.search_paths.clone();
        let display = scene.film.displays.first().map(|d| (d.name.clone(), d.is_depth()));
        let key = signature(&scene);
        let known = self.linked.get(&key).cloned();
        let linked = match known {
            Some(known) => known,
            None => {
                let linked = self.link(&scene)?;
                self.linked.insert(key, linked.clone());
                linked
            }
        };
        log.extend(&linked);
        if let (Some((name, is_depth)), Some(_)) = (display, number) {
            self.leave(&scene, &name, if is_depth { Form::Depths } else { Form::Colors });
        }
        let texts: BTreeSet<&Path> = self.out.sources.files().iter().filter_map(|file| file.path.as_deref()).collect();
        // A shader that no file is named after is looked for in all of them: those are not read for
        // their own sake.
        let is_read = |path: &&Path| log.was_read(path) && (registry::for_path(path).is_none() || texts.contains(path));
        let read: BTreeSet<PathBuf> = log.paths().filter(is_read).map(Path::to_path_buf).collect();
        let known = self.out.frames.last().filter(|last| *last.read == read);
        let read = known.map_or_else(|| Arc::new(read), |last| last.read.clone());
        self.out.frames.push(Frame { number, lists, read });
        Ok(())
    }

    /// Links a scene; gives the files that this reads.
    fn link(&mut self, scene: &Scene) -> Result<FileLog, PackError> {
        let mut log = FileLog::default();
        let displaced =
            |object: &scene::Object| object.procedural.is_none() && object.attributes.true_displacement().is_some();
        if scene.objects.iter().any(displaced) {
            let objects = scene.objects.iter().filter(|object| displaced(object)).cloned().collect();
            let stage = Scene { objects, ..scene.clone() };
            self.program(stage, ProgramPurpose::Displacement)?;
            log.extend(&self.out.sources.take_log());
        }
        let program = self.program(scene.clone(), ProgramPurpose::Image)?;
        log.extend(&self.out.sources.take_log());
        for name in program.iter().flat_map(|program| program.baking.files.values()) {
            self.leave(scene, name, Form::Baked);
        }
        Ok(log)
    }

    /// The program of a scene, without the shaders that cannot be used; `None` where displacement is
    /// left out.
    fn program(&mut self, mut scene: Scene, stage: ProgramPurpose) -> Result<Option<Program>, PackError> {
        let options = LinkOptions {
            shader_paths: self.options.shader_paths.clone(),
            strict: self.options.open.strict,
            stage,
            ..LinkOptions::default()
        };
        let units = usize::from(stage == ProgramPurpose::Displacement);
        loop {
            let sources = std::mem::take(&mut self.out.sources);
            match link_cached(&scene, sources, &options, &mut self.units[units]) {
                Ok(program) => {
                    self.out.sources = program.sources.clone();
                    self.out.diagnostics.extend(program.diagnostics.clone());
                    return Ok(Some(program));
                }
                Err(error) => {
                    self.out.sources = error.sources;
                    if options.strict {
                        return Err(self.refused(error.diagnostics));
                    }
                    self.out.diagnostics.extend(error.diagnostics);
                    if stage == ProgramPurpose::Displacement {
                        return Ok(None);
                    }
                    scene.leave_out(&error.unusable);
                    if error.unusable.is_empty() || scene.shows_nothing() {
                        return Err(self.refused(Diagnostics::new()));
                    }
                }
            }
        }
    }

    /// Notes what a frame leaves for later ones, unless the file is there already.
    fn leave(&mut self, scene: &Scene, name: &str, form: Form) {
        if !self.earlier.contains_key(name) && scene.find_image(name, &mut FileLog::default()).is_err() {
            self.earlier.extend(form.stand_in().map(|bytes| (name.to_string(), bytes.into())));
        }
    }
}

/// The kind of data in a file of an earlier frame.
#[derive(Clone, Copy)]
enum Form {
    Colors,
    Depths,
    Baked,
}

impl Form {
    /// The smallest file of the kind.
    fn stand_in(self) -> Option<Vec<u8>> {
        match self {
            Form::Colors => to_exr(&Image::new(1, 1, vec![[0.0; 4]]).ok()?).ok(),
            Form::Depths => {
                let (to_camera, to_ndc) = (Mat4::IDENTITY, Mat4::IDENTITY);
                DepthMap { width: 1, height: 1, depths: vec![1.0], to_camera, to_ndc }.encode().ok()
            }
            Form::Baked => Some(ply::encode(&PointCloud::default())),
        }
    }
}

/// A hash of all of a scene on which it depends what linking reads: shaders with their parameters,
/// search paths, textures, and the strings of primitives.
fn signature(scene: &Scene) -> String {
    let instances = scene.shader_instances.iter();
    let shaders: Vec<_> = instances.map(|i| (i.kind, i.shader.as_str(), &i.params, &i.objects)).collect();
    let mut strings: BTreeSet<&str> = BTreeSet::new();
    let mut used: BTreeSet<ShaderId> = BTreeSet::new();
    let mut user: BTreeSet<String> = BTreeSet::new();
    let mut visited = VisitedValues::default();
    for object in &scene.objects {
        for variable in &object.mesh.primvars {
            if let PrimvarValues::Strings(list) = &variable.values {
                strings.extend(list.iter().map(|text| &**text));
            }
        }
        let own = &object.attributes;
        used.extend(object.surface.into_iter().chain(object.procedural).chain(own.shaders()));
        user.extend(own.user.unvisited(&mut visited).iter().map(|value| format!("{value:?}")));
    }
    let SearchPaths { shader, texture, .. } = &scene.search_paths;
    let text = format!(
        "{shaders:?} {shader:?} {texture:?} {strings:?} {used:?} {user:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        scene.textures,
        scene.user_options,
        scene.ray_function.as_ref().map(|f| (&f.file, &f.function)),
        scene.imager,
        scene.camera_shader,
        scene.embedded.keys().collect::<Vec<_>>(),
    );
    let mut hash = Sha256::new();
    hash.write(text.as_bytes());
    hash.finish()
}
