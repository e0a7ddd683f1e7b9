//! Shadewright compiles ray-tracing shaders once and runs the same program on two machines: any GPU
//! that wgpu can drive, and a software Ray Processing Unit (RPU) on the CPU.
//!
//! The modules are the pipeline, in order: [`text`] and [`image`] are what all stages share; [`lang`] reads shaders into [`ir`], whose passes optimise them;
//! [`scene`] and [`geometry`] read scenes, [`texture`] reads images for shaders, [`bvh`] indexes geometry; [`program`] links shaders and a scene into one
//! program; [`displace`] moves the points of meshes before that; [`codegen`] lowers that program to WGSL and to RPU assembly; [`rpu`] is the machine;
//! [`render`] runs either; [`compare`] judges the images; [`probe`] follows one sample step by step; [`project`] keeps a scene up to date with its
//! files; [`inspect`] lists what becomes of a shader; `viewer` shows it in a window; [`lsp`] answers editors. The command line is the binary's.
//! A later stage never reaches back into an earlier one, and only [`render`]'s `gpu` and the viewer know wgpu.

pub mod bvh;
pub mod codegen;
pub mod compare;
pub mod displace;
pub mod geometry;
pub mod image;
pub mod inspect;
pub mod ir;
pub mod kernels;
pub mod lang;
pub mod lsp;
pub mod probe;
pub mod program;
pub mod project;
mod random;
pub mod render;
pub mod rpu;
pub mod scene;
pub mod text;
pub mod texture;
#[cfg(feature = "viewer")]
pub mod viewer;
