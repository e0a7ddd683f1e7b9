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
//! A module uses the modules of the rows above it and of no row below it; `docs/architecture.md`
//! has the exact order, which a test enforces.
//!
//! | modules | purpose |
//! |---|---|
//! | [`disk`] | opening files: regular ones alone, and without waiting |
//! | [`text`], [`cache`], [`image`] | source text, diagnostics; results on disk; images, colour, image files |
//! | [`circuit`] | circuits as dataflow graphs, simulated, laid out, as Verilog |
//! | [`shapes`] | how values differ between threads in lock step |
//! | [`ir`] | the SSA intermediate representation, its passes and its evaluator |
//! | [`pointcloud`] | point clouds and their files |
//! | [`texture`], [`bvh`] | mip maps and shadow maps; acceleration structures and traversal |
//! | [`staged`] | ray traversal, generated as IR |
//! | [`lang`], [`geometry`] | front ends of the shading languages; primitives and tessellation |
//! | [`scene`] | RIB, glTF and mesh files |
//! | [`program`] | the linker: a scene and its shaders become one program |
//! | [`export`], [`pack`] | scenes as RIB and glTF files; everything that a scene reads, in one folder |
//! | [`rpu`], [`codegen`] | the RPU; code generation for the RPU and WGSL |
//! | [`render`] | the renderers; only its `gpu` module and the viewer know wgpu |
//! | [`displace`], [`compare`], [`volume`] | displacement of meshes before rendering; image metrics; volumes of objects |
//! | [`golden`] | golden images: lists, outcomes, reports |
//! | [`probe`], [`project`], [`inspect`] | one sample in detail; reloading; compiled forms of shaders |
//!
//! The language server and the viewer are parts of the program and no public interface.

pub mod abi;
pub mod bvh;
pub mod cache;
pub mod circuit;
pub mod codegen;
pub mod compare;
pub mod disk;
pub mod displace;
pub mod export;
pub mod farm;
pub mod geometry;
pub mod golden;
pub mod image;
pub mod inspect;
pub mod ir;
pub mod kernels;
pub mod lang;
#[doc(hidden)]
pub mod lsp;
pub mod machines;
mod nan;
pub mod pack;
pub mod plot;
mod ply;
pub mod pointcloud;
pub mod probe;
pub mod program;
pub mod project;
mod random;
pub mod render;
pub mod rpu;
pub mod scene;
pub mod shapes;
pub mod staged;
pub mod text;
pub mod texture;
#[cfg(feature = "viewer")]
#[doc(hidden)]
pub mod viewer;
pub mod volume;
