//! Scenes as plain data.
//!
//! [`open`] reads a RIB file, a glTF file or a bare mesh (`.obj`, `.ply`) into a [`Scene`]: a
//! camera, named shaders with their parameters, lights, and objects whose meshes are triangles, in
//! world space or placed there by a transform. A scene only *names* shaders; it knows nothing of
//! how they are compiled, of acceleration structures or of renderers.
//!
//! # Conventions
//!
//! - Matrices are glam's: they act on column vectors, `p_world = m * p`. RIB writes matrices for
//!   row vectors, row by row, which is the same sequence of sixteen numbers as a column-vector
//!   matrix column by column.
//! - Camera space is RIB's: x right, y up, z into the image, left-handed.
//! - World space is the *current* space of every shader: points, vectors and normals among shader
//!   parameters are already in world space, as are all meshes but those of instances
//!   ([`MeshSpace`]). A RIB scene may have camera space in its place ([`Current`]): then that is
//!   what is called world space here, and the scene's own world is one of its coordinate systems.
//! - The geometric normal of a triangle is `(B - A) × (C - A)`, evaluated in its mesh's space as it
//!   stands, and follows the inverse transpose of the mesh's transform. The reader orders the
//!   vertices so that this is RI's normal: in object space `dPdu × dPdv`, or the same cross product
//!   of a polygon's edges, under the `outside` orientation; its opposite under `inside`; and under
//!   `lh` and `rh` the one or the other, whichever matches the handedness of object space. A
//!   mirroring transform does not turn a surface inside out.

mod attributes;
pub mod builtin;
mod camera;
mod files;
mod film;
mod framing;
mod gltf;
mod instancing;
mod integrator;
mod meshfile;
pub mod params;
mod repair;
mod rib;
mod shader;
mod texture;
mod user_values;
mod wavefront;

use glam::{Mat4, Vec3};
use shadewright_base::named::{Named, Row};
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::log::FileLog;
use shadewright_base::text::source::{SourceMap, Span};
use shadewright_geometry::normals::{DEFAULT_CREASE_ANGLE, face_normal};
use shadewright_geometry::{Faces, Mesh, assemble};
use shadewright_lang::ShaderRef;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use attributes::{CoShader, HitMode, ObjectAttributes, Visibility};
pub use camera::{Camera, CameraFrame, Format, Lens, Projection};
pub use files::{FileAccess, FileError, hints_of_places, read as read_file};
pub use film::{Display, Exposure, FilmOptions, FilterKind, PixelFilter};
pub use gltf::{EXTRAS as GLTF_EXTRAS, file_of_uri, is_gltf};
pub use instancing::TooManyTriangles;
pub use integrator::{Estimator, Integrator};
pub use repair::Unusable;
pub use rib::GROUP as RIB_EXTENSIONS;
/// The text of RIB files, for those who read requests without making a scene of them.
pub mod rib_text {
    pub use super::rib::{Lexer, Token, decode, folder_and_name, is_binary, search_path, to_text, unescape};
}
use shader::bytes_of_instance;
pub use shader::{Light, ParamValue, RayFunction, ShaderId, ShaderInstance, ShaderRole, is_private};
pub use texture::TextureSource;
pub use user_values::{UserValues, VisitedValues};

/// Ray depth of a scene that does not say (`Option "trace" "maxdepth"`).
pub const DEFAULT_MAX_DEPTH: u32 = 8;

/// Extensions of textures that renderers make of images.
const MADE_TEXTURES: [&str; 5] = ["tx", "tex", "tdl", "map", "env"];

/// Extensions of images that such textures are made of.
const IMAGES: [&str; 8] = ["exr", "png", "tif", "tiff", "jpg", "jpeg", "hdr", "ppm"];

/// Extensions of the files that shaders bake: point clouds, and samples of textures.
pub const BAKED: [&str; 2] = ["ptc", "bake"];

/// Most lights in a scene.
pub const MAX_LIGHTS: usize = 4096;

/// Most objects that instances make.
const MAX_INSTANCES: usize = 1 << 20;

/// Most triangles that the meshes of a scene have, a shared mesh counted once.
pub const MAX_TRIANGLES: usize = 1 << 26;

/// Most triangles of a scene, unless its files are large enough to list more ([`BYTES_LISTED`]) or
/// [`OpenOptions::max_triangles`] allows more. With what 10 MB list, they take less than 2 GiB.
pub const DEFAULT_TRIANGLES: usize = 1 << 22;

/// The bytes of files that list one triangle more. A text of polygons has more bytes for each; a
/// triangle beyond that may be one that the scene uses again and again.
const BYTES_LISTED: u64 = 8;

/// The triangles that files of so many bytes may list.
fn listed_triangles(bytes: u64) -> usize {
    (bytes / BYTES_LISTED) as usize
}

/// Everything that an image is made of, except compiled shaders.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The name of the scene, for messages: a file name or a built-in scene's name.
    pub name: String,
    /// The image's size in pixels.
    pub format: Format,
    /// Where the image is taken from.
    pub camera: Camera,
    /// Samples a pixel in x and y (`PixelSamples`), at least 1 each.
    pub pixel_samples: [u32; 2],
    /// How samples become an image.
    pub film: FilmOptions,
    /// Where shaders and textures may be found.
    pub search_paths: SearchPaths,
    /// Which files it may read.
    pub access: FileAccess,
    /// Maximum ray depth (`Option "trace" "maxdepth"`).
    pub max_depth: u32,
    /// The integrator.
    pub integrator: Integrator,
    /// The estimator of direct lighting on paths.
    pub estimator: Estimator,
    /// Clamp on indirect path contributions; 0 for no limit.
    pub clamp: f32,
    /// The number that `specular` divides by the roughness for its exponent; 1 in RISpec 3.2,
    /// §15.6.
    pub specular_sharpness: f32,
    /// Ray bias: distance of ray origins from the surface, if the scene sets it.
    pub ray_bias: Option<f32>,
    /// Color and coverage of rays that hit nothing: linear red, green, blue, and alpha.
    /// Transparent black unless `Option "trace" "color background"` sets it. (`Imager "background"`
    /// is a shader, and acts on the film.)
    pub background: [f32; 4],
    /// The sources of textures that the scene declares (RIB: by the requests that make them), by
    /// the textures' names.
    pub textures: BTreeMap<String, TextureSource>,
    /// Files that lie within the scene's own, by names that are found before those of other files.
    pub embedded: BTreeMap<String, Arc<[u8]>>,
    /// Named coordinate systems, each as its matrix to the space that all coordinates of the scene
    /// are in: world space, or camera space ([`Current::Camera`]). Always holds `world` and
    /// `camera`.
    pub coordinate_systems: BTreeMap<String, Mat4>,
    /// True if nothing says which space is current where other renderers would take the camera's:
    /// components of points then differ from theirs.
    pub current_is_open: bool,
    /// Every shader that something in the scene uses, with its parameters.
    pub shader_instances: Vec<ShaderInstance>,
    /// The lights, in the order they were declared.
    pub lights: Vec<Light>,
    /// The objects.
    pub objects: Vec<Object>,
    /// The shader that runs once a pixel on the finished film.
    pub imager: Option<ShaderId>,
    /// `Option "user"`: values by their names, as they were declared.
    pub user_options: BTreeMap<String, ParamValue>,
    /// A shader function that replaces the camera.
    pub ray_function: Option<RayFunction>,
    /// The shader that makes the camera's rays, in camera space.
    pub camera_shader: Option<ShaderId>,
}

/// Most folders of a list of [`SearchPaths`] that a scene names, beside its own: each name of a file
/// is looked for in all of them.
pub const MAX_FOLDERS: usize = 128;

/// Folders to search, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchPaths {
    /// For shaders.
    pub shader: Vec<PathBuf>,
    /// For textures.
    pub texture: Vec<PathBuf>,
    /// For archives and meshes.
    pub archive: Vec<PathBuf>,
}

/// In which space the coordinates of an object's mesh are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshSpace {
    /// World space.
    World,
    /// Object space: [`Object::object_to_world`] places the mesh, which other objects may share.
    Object,
}

/// One primitive, or one instance of a retained object: a mesh and the attributes it was declared
/// under.
#[derive(Clone, Debug)]
pub struct Object {
    /// The request or file it came from, for messages and shader-id layers (`Attribute "identifier"
    /// "name"` wins).
    pub name: Arc<str>,
    /// The surface shader; `None` asks for the renderer's default surface.
    pub surface: Option<ShaderId>,
    /// The other shaders of the object, and attributes that shaders ask for.
    pub attributes: Arc<ObjectAttributes>,
    /// Indices into [`Scene::lights`] of the lights that illuminate it, ascending.
    pub lights: Arc<[u32]>,
    /// 1 when only the side that the geometric normal points to is visible, else 2.
    pub sides: u8,
    /// Color (`Cs`) where the mesh has none.
    pub color: Vec3,
    /// Opacity (`Os`) where the mesh has none.
    pub opacity: Vec3,
    /// The surface. The instances of one retained object hold the same one.
    pub mesh: Arc<Mesh>,
    /// Where the mesh lies.
    pub mesh_space: MeshSpace,
    /// The procedural primitive that replaces the mesh, which is empty: an RTSL object of kind
    /// [`ShaderRole::Primitive`], in object space.
    pub procedural: Option<ShaderId>,
    /// The number of the solid (`SolidBegin`) of which it is a piece: the pieces of one number
    /// enclose a volume together. `None` for what is no part of a solid.
    pub solid: Option<u32>,
    /// The object's own space: where the primitive was declared, and for an instance its placement.
    /// Finite, affine and invertible.
    pub object_to_world: Mat4,
    /// The request in the scene file; `None` where the scene was made by the program.
    pub span: Option<Span>,
}

/// How to open a scene.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// Width and height in pixels; wins over the scene's `Format`.
    pub size: Option<(u32, u32)>,
    /// Folders, beside the scene's own and its search paths, that the scene may read files from.
    pub allow_read: Vec<PathBuf>,
    /// The time sample to read, as a fraction of the shutter interval, 0 to 1.
    pub time: f32,
    /// The frame to read: of RIB (`FrameBegin`), or of a glTF animation, whose frame 0 is its
    /// beginning. `None` for the first, or for the pose without animation.
    pub frame: Option<i32>,
    /// The time of a glTF animation to read, in seconds; wins over `frame`.
    pub seconds: Option<f32>,
    /// Frames a second of a glTF animation, above 0; `None` for 24.
    pub fps: Option<f32>,
    /// The glTF animation, by its name or its number; `None` for the first.
    pub animation: Option<String>,
    /// True if the scene may run programs (`Procedural "RunProgram"`).
    pub allow_run: bool,
    /// How the light along a ray is found; wins over what the scene says, as do the next two.
    pub integrator: Option<Integrator>,
    /// The estimator of direct lighting on paths.
    pub estimator: Option<Estimator>,
    /// The upper limit of a contribution to a path ([`Scene::clamp`]).
    pub clamp: Option<f32>,
    /// Which lights cast shadows.
    pub shadows: Shadows,
    /// The space that shaders of a RIB scene compute in; wins over what the scene says.
    pub current: Option<Current>,
    /// True if every error refuses the scene. Otherwise the scene is what remains without the
    /// requests that have errors.
    pub strict: bool,
    /// True if a scene without lights gets one at the camera.
    pub headlight: bool,
    /// The triangles that a scene may have beyond those that its files list; curved surfaces of RIB
    /// are diced more coarsely then. `None` for [`DEFAULT_TRIANGLES`].
    pub max_triangles: Option<usize>,
    /// Images of the file's earlier frames, as files by the names of their displays.
    pub rendered: BTreeMap<String, Arc<[u8]>>,
}

/// The space that shaders compute in (RISpec 3.2, §4.5: the space `current`), and with it that of a
/// scene's objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Current {
    /// World space.
    #[default]
    World,
    /// Camera space: z is the depth.
    Camera,
}

impl Named for Current {
    const TABLE: &'static [Row<Self>] =
        &[("world", "World space", Self::World), ("camera", "Camera space: the z of P is the depth", Self::Camera)];
}

/// Which lights cast ray-traced shadows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shadows {
    /// All lights but those for which the scene turns them off.
    #[default]
    On,
    /// None.
    Off,
    /// Only the lights for which the scene turns them on, as in the RenderMan Interface, whose
    /// lights cast no shadows of their own.
    Asked,
}

impl Named for Shadows {
    const TABLE: &'static [Row<Self>] = &[
        ("on", "All but those with Attribute \"light\" \"shadows\" \"off\"", Self::On),
        ("off", "None", Self::Off),
        ("asked", "Those with Attribute \"light\" \"shadows\" \"on\"", Self::Asked),
    ];
}

impl OpenOptions {
    fn most_triangles(&self) -> usize {
        self.max_triangles.unwrap_or(DEFAULT_TRIANGLES)
    }

    /// Sets the scene's options to those that are given here, which win over the scene's own.
    fn overrule(&self, mut opened: Opened) -> Opened {
        let scene = &mut opened.scene;
        scene.integrator = self.integrator.unwrap_or(scene.integrator);
        scene.estimator = self.estimator.unwrap_or(scene.estimator);
        scene.clamp = self.clamp.unwrap_or(scene.clamp);
        for light in &mut scene.lights {
            light.shadows = match self.shadows {
                Shadows::On => light.shadows,
                Shadows::Off => Some(false),
                Shadows::Asked => Some(light.shadows.unwrap_or(false)),
            };
        }
        opened
    }
}

/// A scene with its warnings.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The scene.
    pub scene: Scene,
    /// Warnings, and the errors of what was left out.
    pub diagnostics: Diagnostics,
    /// The numbers of the file's frames, in its order; none where it has no `FrameBegin` and no
    /// animation.
    pub frames: Vec<i32>,
    /// The frames whose display is a shadow map.
    pub depth_frames: Vec<i32>,
}

/// Opens a scene: a `.gltf` or `.glb` file; a `.obj` or `.ply` mesh, alone before an auto-framed
/// camera; or else a RIB file. Any may be gzip'd. The texts of RIB files are added to `sources`,
/// which the spans in the scene and in messages refer to.
///
/// # Errors
///
/// A file that is no scene, damage after which the reader cannot find the next request, a limit
/// that is exceeded, nothing left to show; with [`OpenOptions::strict`] any error. The diagnostics
/// have all that is wrong with the file.
pub fn open(path: &Path, options: &OpenOptions, sources: &mut SourceMap) -> Result<Opened, Diagnostics> {
    read(path, options, sources).map(|opened| options.overrule(opened))
}

fn read(path: &Path, options: &OpenOptions, sources: &mut SourceMap) -> Result<Opened, Diagnostics> {
    check_size(options)?;
    let bytes = files::read_noting(path, files::MAX_FILE_BYTES, sources.log()).map_err(|e| {
        let hints = e.hints();
        hints.into_iter().fold(Diagnostic::error(e.to_string()), Diagnostic::hint)
    })?;
    let name = path.display().to_string();
    let mut opened = match meshfile::kind_of(path) {
        None if gltf::is_gltf(path) => return gltf::read(&bytes, &name, path, options, sources),
        Some(kind) => open_mesh(kind, &bytes, (&name, path), options, sources.log()),
        None => rib::read(rib::Input { name: &name, path: Some(path), bytes }, options, sources),
    }?;
    if options.seconds.is_some() || options.animation.is_some() {
        let warning = Diagnostic::warning(format!("`{name}`: it has no animation, so that no time of one is chosen"));
        opened.diagnostics.push(warning.hint("glTF files have animations; of RIB, --frames chooses a frame"));
    }
    Ok(opened)
}

/// True if a path is that of a mesh file (`.obj`, `.ply`), by its extension (under `.gz` too).
pub fn is_mesh(path: &Path) -> bool {
    meshfile::kind_of(path).is_some()
}

/// Opens a built-in scene by its name, see [`builtin::SCENES`]; it reads no files.
///
/// # Errors
///
/// When there is none of this name, or the options ask for an impossible size.
pub fn open_builtin(name: &str, options: &OpenOptions, sources: &mut SourceMap) -> Result<Opened, Diagnostics> {
    let Some(text) = builtin::scene(name) else {
        let names: Vec<&str> = builtin::SCENES.iter().map(|s| s.0).collect();
        return Err(Diagnostic::error(format!("there is no built-in scene `{name}`"))
            .hint(format!("there are: {}", names.join(", ")))
            .into());
    };
    let shown = format!("<built-in {name}.rib>");
    open_bytes(&shown, text.as_bytes().to_vec(), options, sources)
}

/// Reads a scene from RIB that lies in no file, text or binary, and may read none.
///
/// # Errors
///
/// The errors of [`open`].
pub fn open_bytes(
    name: &str,
    bytes: Vec<u8>,
    options: &OpenOptions,
    sources: &mut SourceMap,
) -> Result<Opened, Diagnostics> {
    check_size(options)?;
    let opened = rib::read(rib::Input { name, path: None, bytes }, options, sources)?;
    Ok(options.overrule(opened))
}

fn check_size(options: &OpenOptions) -> Result<(), Diagnostic> {
    let Some((width, height)) = options.size else { return Ok(()) };
    if (Format { width, height, ..Format::default() }).is_valid() {
        return Ok(());
    }
    Err(Diagnostic::error(format!("an image of {width} × {height} pixels is not possible"))
        .hint(format!("each side must be 1 to {} pixels", Format::MAX_SIDE)))
}

/// A scene of one mesh, as [`open`] makes it for a mesh file: an auto-framed camera, lights, a
/// surface.
pub fn mesh_scene(name: &str, faces: Faces) -> Scene {
    framing::frame(Scene::empty(name), assemble::assemble(faces, DEFAULT_CREASE_ANGLE).mesh)
}

/// A scene of one triangle that uses a shader, with the lights that a bare mesh gets: for looking
/// at what the shader compiles to.
pub fn shader_scene(name: &str, kind: ShaderRole) -> Scene {
    framing::shader_scene(name, kind)
}

fn open_mesh(
    kind: meshfile::MeshFormat,
    bytes: &[u8],
    (name, path): (&str, &Path),
    options: &OpenOptions,
    log: &mut FileLog,
) -> Result<Opened, Diagnostics> {
    let mut read = meshfile::read(kind, bytes, name)?;
    let on_disk = files::bytes_on_disk(path, bytes.len()) as u64;
    let most = options.most_triangles().saturating_add(listed_triangles(on_disk));
    if read.faces.triangles.len() > most {
        let count = read.faces.triangles.len();
        return Err(Diagnostic::error(format!("`{name}` has {count} triangles; {most} is the limit"))
            .hint("--max-triangles N allows more; each takes some 330 bytes of memory")
            .into());
    }
    // Triangles without an area are left out below.
    let (points, triangles) = (&read.faces.points, &read.faces.triangles);
    let mut has_area = triangles.iter().map(|t| face_normal(t.map(|i| points[i as usize])) != Vec3::ZERO);
    read.materials.of_triangle.retain(|_| has_area.next().unwrap_or(false));
    let made = assemble::assemble(read.faces, DEFAULT_CREASE_ANGLE);
    let mut warnings = Diagnostics::new();
    read.warnings.into_iter().for_each(|w| warnings.push(w));
    if made.dropped > 0 {
        let triangles = if made.dropped == 1 { "triangle" } else { "triangles" };
        warnings.push(Diagnostic::warning(format!("`{name}`: {} zero-area {triangles} skipped", made.dropped)));
    }
    if made.mesh.triangles.is_empty() {
        return Err(Diagnostic::error(format!("`{name}`: every triangle has zero area")).into());
    }
    let scene = in_folder(Scene::empty(name), path, options);
    let scene = match wavefront::has_materials(&read.materials) {
        true => wavefront::add(scene, &made.mesh, &read.materials, options, &mut warnings, log),
        false => framing::frame(scene, made.mesh),
    };
    Ok(Opened { scene, diagnostics: warnings, frames: Vec::new(), depth_frames: Vec::new() })
}

/// A scene that finds its files in the folder of its own file, of the size that the options ask
/// for.
fn in_folder(scene: Scene, path: &Path, options: &OpenOptions) -> Scene {
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    let format = match options.size {
        Some((width, height)) => Format { width, height, ..scene.format },
        None => scene.format,
    };
    Scene {
        search_paths: SearchPaths {
            shader: vec![folder.clone()],
            texture: vec![folder.clone()],
            archive: vec![folder.clone()],
        },
        access: FileAccess { base: Some(folder), allowed: options.allow_read.clone() },
        format,
        ..scene
    }
}

impl Object {
    /// The matrix from the space of its mesh to world space.
    pub fn mesh_to_world(&self) -> Mat4 {
        match self.mesh_space {
            MeshSpace::World => Mat4::IDENTITY,
            MeshSpace::Object => self.object_to_world,
        }
    }

    /// The corners of an axis-aligned box in world space around its vertices, the smallest unless
    /// the mesh is placed by a transform; `None` without vertices.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let (low, high) = self.mesh.bounds()?;
        if self.mesh_space == MeshSpace::World {
            return Some((low, high));
        }
        let corner =
            |i: usize| Vec3::from_array([0, 1, 2].map(|axis| if i >> axis & 1 == 0 { low[axis] } else { high[axis] }));
        (0..8)
            .map(|i| self.object_to_world.transform_point3(corner(i)))
            .map(|p| (p, p))
            .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }
}

impl Scene {
    /// The matrix from world space to the space that all coordinates of the scene are in; the
    /// identity unless that is camera space ([`Current`]).
    pub fn world_to_current(&self) -> Mat4 {
        self.coordinate_systems.get("world").copied().unwrap_or(Mat4::IDENTITY)
    }

    /// A scene without objects, seen by RIB's default camera.
    pub fn empty(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            format: Format::default(),
            camera: Camera::default(),
            pixel_samples: [2, 2],
            film: FilmOptions::default(),
            search_paths: SearchPaths::default(),
            access: FileAccess::default(),
            max_depth: DEFAULT_MAX_DEPTH,
            integrator: Integrator::default(),
            estimator: Estimator::default(),
            clamp: 0.0,
            specular_sharpness: 1.0,
            ray_bias: None,
            background: [0.0; 4],
            coordinate_systems: [("world", Mat4::IDENTITY), ("camera", Mat4::IDENTITY)]
                .map(|(n, m)| (n.to_string(), m))
                .into(),
            current_is_open: false,
            textures: BTreeMap::new(),
            embedded: BTreeMap::new(),
            shader_instances: Vec::new(),
            lights: Vec::new(),
            objects: Vec::new(),
            imager: None,
            user_options: BTreeMap::new(),
            ray_function: None,
            camera_shader: None,
        }
    }

    /// Number of triangles in all objects, those of a shared mesh once for each.
    pub fn triangle_count(&self) -> usize {
        self.objects.iter().map(|o| o.mesh.triangles.len()).sum()
    }

    /// The corners of an axis-aligned box around all objects, see [`Object::bounds`]; `None` when
    /// there are none.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        self.objects.iter().filter_map(Object::bounds).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// Returns the source of the texture of that name.
    pub fn texture(&self, name: &str) -> TextureSource {
        self.textures.get(name).cloned().unwrap_or_else(|| TextureSource::image(name))
    }

    /// Adds a use of a shader whose space is the world's, which no file names.
    fn add_shader(&mut self, kind: ShaderRole, name: &str, params: Vec<(String, ParamValue)>) -> ShaderId {
        let (shader, to_world, objects) = (ShaderRef::new(name), Mat4::IDENTITY, Arc::default());
        let instance = ShaderInstance { kind, shader, params, to_world, span: None, objects };
        self.shader_instances.push(instance);
        ShaderId(self.shader_instances.len() as u32 - 1)
    }

    /// Where an image of that name lies: the search path for textures is looked through, and places
    /// where it is not are noted in `log`. In place of a file that a renderer's own tool makes of an
    /// image stands the image.
    ///
    /// # Errors
    ///
    /// When it is nowhere, or lies where the scene may not read.
    pub fn find_image(&self, name: &str, log: &mut FileLog) -> Result<PathBuf, FileError> {
        let mut find = |name: &str| self.access.find(name, None, &self.search_paths.texture, log);
        find(name).or_else(|error| {
            let (path, missing) = (Path::new(name), matches!(error, FileError::Missing { .. }));
            let made = path.extension().and_then(|e| e.to_str()).is_some_and(|e| MADE_TEXTURES.contains(&e));
            let images = IMAGES.iter().filter(|_| missing && made).map(|e| path.with_extension(e));
            // What a shader bakes into a file of another name is in a file of that name and this
            // extension.
            let baked = BAKED.iter().filter(|_| missing).map(|e| PathBuf::from(format!("{name}.{e}")));
            images.chain(baked).filter_map(|file| find(file.to_str()?).ok()).next().ok_or(error)
        })
    }

    /// The camera's frame for the scene's format.
    pub fn camera_frame(&self) -> CameraFrame {
        self.camera.frame(self.format)
    }
}
