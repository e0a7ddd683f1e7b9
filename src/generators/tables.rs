//! The tables of a BVH: vectors of four words, read from the memory image or through functions of
//! the text around the generated function.

use super::stage::KernelBuilder;
use shadewright_ir::{Type, Value};

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Table {
    /// The nodes.
    Nodes,
    /// The triangles.
    Triangles,
}

/// Where tables lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tables {
    /// In the memory image. Program constant 0 has their addresses as bit patterns: x that of the
    /// nodes, y that of the triangles.
    Image,
    /// With the functions `nodes_vector(index)` and `triangles_vector(index)` of the text around the
    /// generated function, each of which returns four `u32`.
    Surrounding,
}

/// A vector of a table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The first three words as floats, `vec3`.
    pub xyz: Value,
    /// The last word, `u32`.
    pub w: Value,
}

impl Tables {
    /// `N` vectors of a table from an index on, an `i32`.
    pub fn rows<const N: usize>(self, s: &mut KernelBuilder, table: Table, index: Value) -> [Row; N] {
        std::array::from_fn(|offset| match self {
            Tables::Image => {
                let vector = self.vector(s, table, index, offset);
                let xyz = [0, 1, 2].map(|i| s.b.extract(vector, i));
                let w = s.b.extract(vector, 3);
                Row { xyz: s.b.compose(&xyz), w: s.bits(w, Type::U32) }
            }
            Tables::Surrounding => {
                let words = Self::words(s, table, index, offset);
                let xyz = [0, 1, 2].map(|i| s.bits(words[i], Type::F32));
                Row { xyz: s.b.compose(&xyz), w: words[3] }
            }
        })
    }

    /// The vector of a table that is `offset` after an index, an `i32`; as a `vec4`.
    pub fn vector(self, s: &mut KernelBuilder, table: Table, index: Value, offset: usize) -> Value {
        match self {
            Tables::Image => {
                let bases = s.b.uniform(0);
                let base = s.b.extract(bases, table as u8);
                let base = s.bits(base, Type::I32);
                let address = s.b.iadd(base, index);
                let address = s.bits(address, Type::Ref);
                s.b.load(address, offset as u32)
            }
            Tables::Surrounding => {
                let words = Self::words(s, table, index, offset);
                let floats = [0, 1, 2, 3].map(|i| s.bits(words[i], Type::F32));
                s.b.compose(&floats)
            }
        }
    }

    /// The same as four `u32`, with a function of the surrounding text.
    fn words(s: &mut KernelBuilder, table: Table, index: Value, offset: usize) -> Vec<Value> {
        let name = match table {
            Table::Nodes => "nodes_vector",
            Table::Triangles => "triangles_vector",
        };
        let offset = s.b.i32(offset as i32);
        let index = s.b.iadd(index, offset);
        let index = s.bits(index, Type::U32);
        s.b.call(name, vec![index], &[Type::U32; 4])
    }
}
