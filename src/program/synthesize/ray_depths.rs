//! Ray depth limits: `rays.depth`, which the library calls before a surface traces a ray.
//!
//! The scene has one limit, program constant 6; an object may lower it for the specular and diffuse
//! rays of its surface.

use crate::records::visibility::DIFFUSE;
use shadewright_ir::abi::Intrinsic;
use shadewright_ir::abi::frame::slots;
use shadewright_ir::{Function, FunctionBuilder, Type};

/// `rays.depth(kind) -> f32`: the depth limit of rays of that kind, of an object with these limits
/// for specular and diffuse rays.
pub fn function(suffix: &str, [specular, diffuse]: [Option<u32>; 2]) -> Function {
    let mut b = FunctionBuilder::linker(format!("{}{suffix}", Intrinsic::RayDepth));
    b.result("return", Type::F32);
    let kind = b.param("kind", Type::F32);
    let of_scene = b.frame(slots::MAX_DEPTH);
    let [specular, diffuse] = [specular, diffuse].map(|limit| match limit {
        Some(limit) => {
            let limit = b.f32(limit as f32);
            b.min(of_scene, limit)
        }
        None => of_scene,
    });
    let limit = if specular == diffuse {
        specular
    } else {
        let is_diffuse = b.f32(DIFFUSE.into());
        let is_diffuse = b.eq(kind, is_diffuse);
        b.select(is_diffuse, diffuse, specular)
    };
    b.ret(vec![limit]);
    b.finish()
}
