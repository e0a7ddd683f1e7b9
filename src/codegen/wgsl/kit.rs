//! The parts that generated code is made of: the shared functions of `wgsl/section/`, and the naga
//! types of IR types.

use super::{Error, WgslOptions};
use naga::{ArraySize, Handle, Scalar, ScalarKind, Span, StructMember, TypeInner, VectorSize};
use shadewright_bvh::kernels::{Kernel, join};
use shadewright_ir::Type;
use std::collections::HashMap;
use std::num::NonZeroU32;

/// A module that holds the shared functions, and handles into it.
#[derive(Clone)]
pub(super) struct Kit {
    pub module: naga::Module,
    functions: HashMap<String, Handle<naga::Function>>,
}

/// The scalar type of a bit pattern in a frame.
pub(super) const WORD: Scalar = Scalar { kind: ScalarKind::Uint, width: 4 };

/// The text that both schedules share.
const STEPS: Kernel = Kernel::named("section/steps.wgsl");

/// The functions that find the triangle and the object of a hit.
fn hits(options: &WgslOptions) -> Kernel {
    match options.instances {
        false => Kernel::named("section/plain_hits.wgsl"),
        true => Kernel::named("section/placed_hits.wgsl"),
    }
}

impl Kit {
    /// The steps for kernels of one section each.
    pub fn sections(options: &WgslOptions) -> Result<Self, Error> {
        Self::parse(&join(&[STEPS, hits(options), Kernel::named("section/wavefront.wgsl")]))
    }

    /// The functions that intersection shaders call in a traversal kernel.
    pub fn intersections() -> Result<Self, Error> {
        Self::parse(&join(&[Kernel::named("section/intersections.wgsl")]))
    }

    /// The steps for one kernel of all sections. The frame stack of so many words and the rays that
    /// a path shoots at once are in the kernel's own memory, or with `None` in storage; the
    /// functions of `traversal` trace the rays. `intersections` adds the intersection shaders that these call.
    pub fn megakernel(
        options: &WgslOptions,
        private: Option<(u32, u32)>,
        traversal: &str,
        intersections: impl FnOnce(Self) -> Result<String, Error>,
    ) -> Result<Self, Error> {
        let (words, rays) = private.unwrap_or((1, 1));
        let stored = private.is_none();
        let constants =
            format!("const STORED = {stored};\nconst PRIVATE_WORDS = {words}u;\nconst PRIVATE_RAYS = {rays}u;\n");
        let mut steps = [constants, join(&[STEPS, hits(options), Kernel::named("section/megakernel.wgsl")])].concat();
        if !options.intersections.is_empty() {
            let kind = join(&[Kernel::named("section/procedural_kind.wgsl")]);
            steps = intersections(Self::parse(&[steps, kind].concat())?)?;
        }
        Self::parse(&[&steps, &*join(&[Kernel::named("section/megakernel_rays.wgsl")]), traversal].concat())
    }

    /// The functions of a WGSL module.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let module = naga::front::wgsl::parse_str(text)
            .map_err(|e| Error::Internal(e.emit_to_string_with_path(text, "wgsl/section")))?;
        let named = module.functions.iter().filter_map(|(h, f)| Some((f.name.clone()?, h)));
        let functions = named.collect();
        Ok(Self { module, functions })
    }

    /// The functions, by name.
    pub fn functions(&self) -> impl Iterator<Item = (&str, Handle<naga::Function>)> {
        self.functions.iter().map(|(name, &handle)| (name.as_str(), handle))
    }

    /// A shared function.
    pub fn shared(&self, name: &str) -> Result<Handle<naga::Function>, Error> {
        let missing = || Error::Internal(format!("wgsl/section has no function `{name}`"));
        self.functions.get(name).copied().ok_or_else(missing)
    }

    fn intern(&mut self, inner: TypeInner) -> Handle<naga::Type> {
        self.module.types.insert(naga::Type { name: None, inner }, Span::UNDEFINED)
    }

    /// The type that holds values of an IR type. Strings and addresses are `u32`.
    pub fn ty(&mut self, ty: Type) -> Result<Handle<naga::Type>, Error> {
        let inner = match ty {
            Type::Bool => TypeInner::Scalar(Scalar::BOOL),
            Type::I32 => TypeInner::Scalar(Scalar::I32),
            Type::U32 | Type::String | Type::Ref => TypeInner::Scalar(Scalar::U32),
            Type::F32 => TypeInner::Scalar(Scalar::F32),
            Type::Vec2 => TypeInner::Vector { size: VectorSize::Bi, scalar: Scalar::F32 },
            Type::Vec3 => TypeInner::Vector { size: VectorSize::Tri, scalar: Scalar::F32 },
            Type::Vec4 => TypeInner::Vector { size: VectorSize::Quad, scalar: Scalar::F32 },
            Type::Mat4 => return Err(Error::Unsupported("matrices".into())),
        };
        Ok(self.intern(inner))
    }

    /// `vec3<u32>`, the type of an invocation's number.
    pub fn invocation_ty(&mut self) -> Handle<naga::Type> {
        self.intern(TypeInner::Vector { size: VectorSize::Tri, scalar: WORD })
    }

    /// An array of `len` elements.
    pub fn array_ty(&mut self, ty: Type, len: u32) -> Result<Handle<naga::Type>, Error> {
        let base = self.ty(ty)?;
        let len = NonZeroU32::new(len).ok_or_else(|| Error::Internal("an empty array slot".into()))?;
        let stride = match ty {
            Type::Bool => 1,
            Type::Vec2 => 8,
            Type::Vec3 | Type::Vec4 => 16,
            _ => 4,
        };
        Ok(self.intern(TypeInner::Array { base, size: ArraySize::Constant(len), stride }))
    }

    /// The type that a function with these results returns: nothing, the one, or a structure.
    pub fn result_ty(&mut self, results: &[Type]) -> Result<Option<Handle<naga::Type>>, Error> {
        let members = match results {
            [] => return Ok(None),
            [one] => return self.ty(*one).map(Some),
            many => many,
        };
        let mut offset = 0u32;
        let mut list = Vec::new();
        for (i, &ty) in members.iter().enumerate() {
            let align = match ty {
                Type::Vec2 => 8,
                Type::Vec3 | Type::Vec4 => 16,
                _ => 4,
            };
            offset = offset.next_multiple_of(align);
            list.push(StructMember { name: Some(format!("r{i}_")), ty: self.ty(ty)?, binding: None, offset });
            offset += ty.words() * 4;
        }
        let name = Some(format!("Results{}", self.module.types.len()));
        let inner = TypeInner::Struct { members: list, span: offset.next_multiple_of(16) };
        Ok(Some(self.module.types.insert(naga::Type { name, inner }, Span::UNDEFINED)))
    }
}
