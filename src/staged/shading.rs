//! How an integrator calls the surface that a ray hits.

use super::stage::Stage;
use crate::abi::EntryPoint;
use crate::ir::{Op, ShaderCall, Value};

/// The code by which a surface is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shading {
    /// The machine looks up the surface in the record of the object that was hit: the RPU calls its
    /// address, the GPU's scheduler sorts paths by it.
    Table,
    /// All objects have this surface entry: it is called directly, and can be inlined.
    One(u32),
}

impl Shading {
    /// Calls the surface of the current hit with the operands of [`Op::CallShader`], and gives its
    /// results.
    pub fn call(self, s: &mut Stage, call: ShaderCall, args: &[Value]) -> Vec<Value> {
        match self {
            Self::Table => s.inst(Op::CallShader(call), args, call.results()),
            Self::One(number) => {
                let name = EntryPoint::Surface(number).name().unwrap_or_default();
                s.call(name, args, call.results())
            }
        }
    }
}
