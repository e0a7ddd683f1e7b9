//! Shadewright compiles ray-tracing shaders once and runs the same program on two back ends: any
//! GPU that wgpu can drive, and a software Ray Processing Unit (RPU) on the CPU.
//!
//! # Example
//!
//! Opens a built-in scene, links its shaders into one program, renders it on the RPU, and writes an
//! image file. A scene file goes through [`scene::open`] in the same way.
//!
//! ```
//! use shadewright::image::file;
//! use shadewright::program::{LinkOptions, link};
//! use shadewright::render::rpu::RpuRenderer;
//! use shadewright::render::sampling::Sampling;
//! use shadewright::render::{DEFAULT_BUDGET, Renderer, Window, prepare};
//! use shadewright::scene::{OpenOptions, builtin, open_builtin};
//! use shadewright::text::source::SourceMap;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut sources = SourceMap::new();
//! let options = OpenOptions { size: Some((64, 48)), ..OpenOptions::default() };
//! let opened = open_builtin(builtin::DEFAULT_SCENE, &options, &mut sources)
//!     .map_err(|errors| errors.render(&sources))?;
//! let program = link(&opened.scene, sources, &LinkOptions::default())
//!     .map_err(|error| error.diagnostics.render(&error.sources))?;
//! let sampling = Sampling { strata: [2, 2], seed: 0 };
//! let job = prepare(program, &opened.scene, Window::whole(64, 48), sampling, DEFAULT_BUDGET)?;
//! let image = RpuRenderer::new().render(&job, &|_progress| ())?;
//! assert_eq!((image.width, image.height), (64, 48));
//!
//! let folder = tempfile::tempdir()?;
//! file::write(&folder.path().join("scene.png"), &image)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Modules
//!
//! Each module is a crate of the workspace, or a module of one; a row uses rows above it.
//! `docs/architecture.md` lists the crates with those that each of them uses.
//!
//! | modules | purpose |
//! |---|---|
//! | [`disk`], [`named`] | opening files: regular ones alone, and without waiting; enumerations with names |
//! | [`text`], [`cache`], [`image`] | source text, diagnostics; results on disk; images, color, image files |
//! | [`silicon`] | circuits as dataflow graphs, simulated, laid out, as Verilog |
//! | [`uniformity`] | how values differ between threads in lock step |
//! | [`ir`], [`abi`] | the SSA intermediate representation, its passes and its evaluator |
//! | [`bvh`], [`texture`], [`pointcloud`] | acceleration structures and traversal; mip maps and shadow maps; point clouds |
//! | [`generators`] | ray traversal and integrators, generated as IR |
//! | [`lang`], [`geometry`] | front ends of the shading languages; primitives and tessellation |
//! | [`scene`] | RIB, glTF and mesh files |
//! | [`program`] | the linker: a scene and its shaders become one program |
//! | [`rpu`], [`codegen`] | the RPU; code generation for the RPU and WGSL |
//! | [`render`], [`displace`] | the renderers, whose module `gpu` knows wgpu; displacement of meshes |
//! | [`export`], [`pack`] | scenes as RIB and glTF files; everything that a scene reads, in one folder |
//! | [`compare`], [`golden`] | image metrics; golden images: lists, outcomes, reports |
//! | [`solid_volume`], [`machines`], [`farm`] | volumes of solids; hardware models; jobs for render farms |
//! | [`probe`], [`project`], [`inspect`] | one sample in detail; reloading; compiled forms of shaders |
//!
//! The language server and the viewer are parts of the program and no public interface.

pub use shadewright_base::{cache, disk, named, plot, text, uniformity};
pub use shadewright_bvh::{self as bvh, kernels};
pub use shadewright_codegen as codegen;
pub use shadewright_farm as farm;
pub use shadewright_generators as generators;
pub use shadewright_geometry as geometry;
pub use shadewright_golden::{self as golden, compare};
pub use shadewright_image as image;
pub use shadewright_interchange::{export, pack};
pub use shadewright_ir::{self as ir, abi};
pub use shadewright_lang as lang;
#[doc(hidden)]
pub use shadewright_lsp as lsp;
pub use shadewright_machines as machines;
pub use shadewright_program as program;
pub use shadewright_project::{self as project, inspect, probe};
pub use shadewright_render::{self as render, displace};
pub use shadewright_rpu as rpu;
pub use shadewright_scene as scene;
pub use shadewright_silicon::{self as silicon, circuit};
pub use shadewright_solid_volume as solid_volume;
pub use shadewright_texture::{self as texture, pointcloud};
#[cfg(feature = "viewer")]
#[doc(hidden)]
pub use shadewright_viewer as viewer;
