//! The images and shader files of a scene, for folders beside the exported file.
//!
//! The scene is linked once: that reads every shader, header and image that it uses, also those that
//! only a shader names, and [`FileLog`] and [`SourceMap`] have them then.

use super::losses::Losses;
use super::{ExportOptions, Format, OutputFile};
use shadewright_base::disk;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::file_names::portable;
use shadewright_base::text::log::FileLog;
use shadewright_base::text::source::SourceMap;
use shadewright_lang::{Naming, ShaderRef};
use shadewright_program::{LinkOptions, link};
use shadewright_scene::{ParamValue, Scene, TextureSource, VisitedValues};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Longest image file that is copied, in bytes.
const MAX_IMAGE_BYTES: u64 = 1 << 30;

/// A file that is copied.
#[derive(Clone, Debug)]
pub struct Copied {
    /// The path from the exported file, with slashes.
    pub name: String,
    /// The content of the file.
    pub bytes: Arc<[u8]>,
}

/// The files that an export takes along.
#[derive(Debug, Default)]
pub struct Assets {
    /// The textures that are there, by the names that shaders ask for; the files of each are those
    /// of `images`.
    pub textures: BTreeMap<String, TextureSource>,
    /// Images, by their paths from the exported file.
    pub images: BTreeMap<String, Copied>,
    /// Shader files and headers.
    pub shaders: Vec<Copied>,
    /// Folders to search for shaders, from the exported file.
    pub shader_folders: Vec<String>,
    /// New names of shaders whose files the scene names by paths.
    pub renamed: HashMap<String, String>,
}

impl Assets {
    /// The name by which the exported file names a shader.
    pub fn name_of<'a>(&'a self, shader: &'a ShaderRef) -> &'a str {
        self.renamed.get(shader.as_str()).map_or(shader.as_str(), String::as_str)
    }

    /// Copies as files beside `out`.
    pub fn files<'a>(
        &'a self,
        out: &'a Path,
        copies: impl IntoIterator<Item = &'a Copied> + 'a,
    ) -> impl Iterator<Item = OutputFile> + 'a {
        copies.into_iter().map(|copy| OutputFile { path: out.with_file_name(&copy.name), bytes: copy.bytes.to_vec() })
    }
}

/// Finds all that a scene names, and reads it.
pub fn gather(
    scene: &Scene,
    mut sources: SourceMap,
    out: &Path,
    format: Format,
    options: &ExportOptions,
    losses: &mut Losses,
) -> (Assets, SourceMap) {
    let mut known: BTreeSet<PathBuf> = sources.files().iter().filter_map(|file| file.path.clone()).collect();
    known.extend(sources.log().paths().map(Path::to_path_buf));
    let (mut sources, read_all) = linked(scene, sources, options, losses);
    let log = sources.log().clone();
    let stem = out.file_stem().unwrap_or(OsStr::new("scene")).to_string_lossy();
    let stem = portable(&stem).into_owned();
    let mut assets = Assets::default();
    let inputs = log.paths().filter_map(|path| path.canonicalize().ok()).collect();
    let folder = format!("{stem}_textures");
    let mut images = Images {
        scene,
        log,
        inputs,
        folder,
        taken: BTreeMap::new(),
        lower_case: BTreeSet::new(),
        assets: &mut assets,
        out,
    };
    images.add_all(&known, &sources, read_all, losses);
    if format == Format::Rib {
        add_shaders(scene, &sources, &known, options, &format!("{stem}_shaders"), &mut assets);
    }
    (assets, sources)
}

/// Links the scene, for the files that this reads. Whether all textures were looked for: where
/// shaders are missing or wrong, they are once these are left out.
fn linked(scene: &Scene, sources: SourceMap, options: &ExportOptions, losses: &mut Losses) -> (SourceMap, bool) {
    let link_options = LinkOptions { shader_paths: options.shader_paths.clone(), ..LinkOptions::default() };
    let error = match link(scene, sources, &link_options) {
        Ok(program) => {
            losses.diagnostics.extend(program.diagnostics);
            return (program.sources, true);
        }
        Err(error) => error,
    };
    error.diagnostics.iter().for_each(|d| losses.diagnostics.push(d.clone().into_warning()));
    if error.unusable.is_empty() {
        return (error.sources, false);
    }
    let mut rest = scene.clone();
    rest.leave_out(&error.unusable);
    match link(&rest, error.sources, &link_options) {
        Ok(program) => (program.sources, true),
        Err(error) => (error.sources, false),
    }
}

/// The images of a scene on their way to a folder.
struct Images<'a> {
    scene: &'a Scene,
    /// The files that linking read.
    log: FileLog,
    /// The same files, without links.
    inputs: BTreeSet<PathBuf>,
    folder: String,
    /// The names that files got, by where they are: a path, or a name within the scene's file.
    taken: BTreeMap<PathBuf, String>,
    /// These names in lower case: some systems take no notice of case.
    lower_case: BTreeSet<String>,
    assets: &'a mut Assets,
    out: &'a Path,
}

impl Images<'_> {
    fn add_all(&mut self, known: &BTreeSet<PathBuf>, sources: &SourceMap, read_all: bool, losses: &mut Losses) {
        for (name, source) in &self.scene.textures {
            self.add(name, source, losses);
        }
        let mut names = strings(self.scene);
        names.extend(self.names_in_shaders(known, sources));
        for name in names {
            if self.assets.textures.contains_key(&name) || self.scene.textures.contains_key(&name) || name.is_empty() {
                continue;
            }
            let is_embedded = self.scene.embedded.contains_key(&name);
            let found = self.scene.find_image(&name, &mut FileLog::default()).ok().filter(|path| path.is_file());
            // A string may have the name of a file and be something else.
            if is_embedded || found.is_some_and(|path| self.log.was_read(&path) || !read_all) {
                self.add(&name, &TextureSource::image(&name), losses);
            }
        }
    }

    /// The names by which shaders themselves may ask for the images that were read.
    fn names_in_shaders(&self, known: &BTreeSet<PathBuf>, sources: &SourceMap) -> BTreeSet<String> {
        let folders = self.scene.access.base.iter().chain(&self.scene.search_paths.texture);
        let folders: Vec<&PathBuf> = folders.collect();
        let read = self.log.paths().filter(|path| self.log.was_read(path) && !known.contains(*path));
        let is_text = |path: &Path| sources.files().iter().any(|file| file.path.as_deref() == Some(path));
        let images = read.filter(|path| !is_text(path));
        let named = images.filter_map(|path| {
            let name = folders.iter().find_map(|folder| path.strip_prefix(folder).ok()?.to_str())?;
            // A file that the scene names is read for that, unless a shader has its name, too.
            let is_known = path.canonicalize().is_ok_and(|place| self.taken.contains_key(&place));
            let is_of_scene = |path: &Option<PathBuf>| path.as_ref().is_some_and(|path| known.contains(path));
            let shaders = || sources.files().iter().filter(|file| !is_of_scene(&file.path));
            let is_named = || shaders().any(|file| file.text.contains(name));
            (!is_known || is_named()).then(|| name.to_string())
        });
        named.collect()
    }

    /// Adds a texture with its files; one that is not there is a warning of the linker, and keeps its
    /// name.
    fn add(&mut self, name: &str, source: &TextureSource, losses: &mut Losses) {
        let mut copied = source.clone();
        let files = match &mut copied {
            TextureSource::Image { file, .. } | TextureSource::Depth { file } => std::slice::from_mut(file),
            TextureSource::Cube { faces, .. } => faces.as_mut_slice(),
        };
        for file in files {
            match self.copy(file) {
                Ok(copy) => *file = copy,
                Err(reason) => {
                    let d = Diagnostic::warning(format!("the texture `{name}` is not copied: {reason}"));
                    losses.lose(d.hint("the exported scene names it, and is black there"));
                    return;
                }
            }
        }
        self.assets.textures.insert(name.to_string(), copied);
    }

    /// Copies a file of a texture; gives its new name.
    fn copy(&mut self, file: &str) -> Result<String, String> {
        let embedded = self.scene.embedded.get(file);
        let path = match embedded {
            Some(_) => PathBuf::from(file),
            None => self.scene.find_image(file, &mut FileLog::default()).map_err(|e| e.to_string())?,
        };
        let place = path.canonicalize().unwrap_or_else(|_| path.clone());
        if let Some(name) = self.taken.get(&place) {
            return Ok(name.clone());
        }
        let bytes: Arc<[u8]> = match embedded {
            Some(bytes) => bytes.clone(),
            None => self
                .scene
                .access
                .read(&path, MAX_IMAGE_BYTES, &mut FileLog::default())
                .map_err(|e| e.to_string())?
                .into(),
        };
        let wanted = match embedded {
            Some(bytes) => format!("image{}.{}", self.assets.images.len(), extension_of(bytes)),
            None => {
                let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
                portable(&name).into_owned()
            }
        };
        let name = self.free_name(&wanted, &place, &bytes);
        self.taken.insert(place, name.clone());
        self.lower_case.insert(name.to_lowercase());
        self.assets.images.insert(name.clone(), Copied { name: name.clone(), bytes });
        Ok(name)
    }

    /// A name in the folder that no other image has, and that replaces no other file of the scene.
    fn free_name(&self, wanted: &str, place: &Path, bytes: &[u8]) -> String {
        let (stem, extension) = wanted.rsplit_once('.').unwrap_or((wanted, ""));
        let dot = if extension.is_empty() { "" } else { "." };
        let names = (1..).map(|number| match number {
            1 => format!("{}/{wanted}", self.folder),
            _ => format!("{}/{stem}-{number}{dot}{extension}", self.folder),
        });
        let is_free = |name: &String| {
            let target = self.out.with_file_name(name).canonicalize().ok();
            let is_other_input = target.is_some_and(|target| {
                // A file of the same bytes may stay.
                target != place
                    && self.inputs.contains(&target)
                    && disk::read(&target, u64::MAX).is_ok_and(|there| there != bytes)
            });
            !self.lower_case.contains(&name.to_lowercase()) && !is_other_input
        };
        names.into_iter().find(is_free).unwrap_or_default()
    }
}

/// The extension of an image's format, by its first bytes.
fn extension_of(bytes: &[u8]) -> &'static str {
    image::guess_format(bytes).ok().and_then(|format| format.extensions_str().first().copied()).unwrap_or("bin")
}

/// All strings that a scene gives to shaders.
fn strings(scene: &Scene) -> BTreeSet<String> {
    let of_shaders = scene.shader_instances.iter().flat_map(|instance| &instance.params);
    let mut visited = VisitedValues::default();
    let of_objects = scene.objects.iter().flat_map(|object| object.attributes.user.unvisited(&mut visited));
    let values = of_shaders.map(|(_, value)| value).chain(of_objects.map(|(_, value)| value));
    let values = values.chain(scene.user_options.values());
    let mut all: BTreeSet<String> = values
        .flat_map(|value| match value {
            ParamValue::String(list) => list.as_slice(),
            _ => &[],
        })
        .cloned()
        .collect();
    for variable in scene.objects.iter().flat_map(|object| &object.mesh.primvars) {
        if let shadewright_geometry::primvar::PrimvarValues::Strings(list) = &variable.values {
            all.extend(list.iter().map(|text| text.to_string()));
        }
    }
    all
}

/// Copies the files of shaders with their headers. They keep their places relative to each other, so
/// that headers are found.
fn add_shaders(
    scene: &Scene,
    sources: &SourceMap,
    known: &BTreeSet<PathBuf>,
    options: &ExportOptions,
    folder: &str,
    assets: &mut Assets,
) {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let files: Vec<(PathBuf, &str)> = sources
        .files()
        .iter()
        .filter_map(|file| Some((file.path.as_deref()?, &*file.text)))
        .filter(|(path, _)| !known.contains(*path))
        .map(|(path, text)| (real(path), text))
        .collect();
    let Some(root) = files.iter().filter_map(|(path, _)| path.parent().map(Path::to_path_buf)).reduce(common) else {
        return;
    };
    let name_of = |path: &Path| {
        let below = path.strip_prefix(&root).unwrap_or(path);
        let parts = below.components().filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().replace(':', "_")),
            _ => None,
        });
        std::iter::once(folder.to_string()).chain(parts).collect::<Vec<_>>().join("/")
    };
    for (path, text) in &files {
        let name = name_of(path);
        if assets.shaders.iter().all(|copy| copy.name != name) {
            assets.shaders.push(Copied { name, bytes: text.as_bytes().into() });
        }
    }
    let folders = options.shader_paths.iter().chain(&scene.search_paths.shader).chain(&scene.access.base);
    for searched in folders.map(|folder| real(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })) {
        // Folders above the root have no files of their own that were read.
        let name = if searched.starts_with(&root) { name_of(&searched) } else { folder.to_string() };
        let holds = |copy: &Copied| copy.name.starts_with(&format!("{name}/"));
        let is_useful = root.starts_with(&searched) || searched.starts_with(&root);
        if is_useful && assets.shaders.iter().any(holds) && !assets.shader_folders.contains(&name) {
            assets.shader_folders.push(name);
        }
    }
    // A file that is named by a path is named by its new one.
    let search: Vec<PathBuf> = options.shader_paths.iter().chain(&scene.search_paths.shader).cloned().collect();
    for shader in scene.shader_instances.iter().map(|instance| &instance.shader) {
        if shader.language.naming() != Naming::Qualified || !shader.file.contains(['/', '\\']) {
            continue;
        }
        let access = scene.access.with_allowed(&options.shader_paths);
        let found = access.find(&shader.file, None, &search, &mut FileLog::default());
        if let Some(path) = found.ok().map(|path| real(&path)).filter(|path| files.iter().any(|(file, _)| file == path))
        {
            let suffix = shader.given.as_ref().map_or_else(String::new, |name| format!(":{name}"));
            assets.renamed.insert(shader.as_str().to_string(), name_of(&path) + &suffix);
        }
    }
}

/// The longest path that two begin with.
fn common(a: PathBuf, b: PathBuf) -> PathBuf {
    a.components().zip(b.components()).take_while(|(a, b)| a == b).map(|(part, _)| part).collect()
}
