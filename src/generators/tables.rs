//! The tables of a BVH: vectors of four words, read from the memory image or through functions of
//! the text around the generated function.

use super::stage::Stage;
use shadewright_ir::{Op, Type, Value};

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
    pub fn rows<const N: usize>(self, s: &mut Stage, table: Table, index: Value) -> [Row; N] {
        std::array::from_fn(|offset| match self {
            Tables::Image => {
                let vector = self.vector(s, table, index, offset);
                let xyz = [0, 1, 2].map(|i| s.part(vector, i));
                let w = s.part(vector, 3);
                Row { xyz: s.compose(xyz), w: s.bits(w, Type::U32) }
            }
            Tables::Surrounding => {
                let words = Self::words(s, table, index, offset);
                let xyz = [0, 1, 2].map(|i| s.bits(words[i], Type::F32));
                Row { xyz: s.compose(xyz), w: words[3] }
            }
        })
    }

    /// The vector of a table that is `offset` after an index, an `i32`; as a `vec4`.
    pub fn vector(self, s: &mut Stage, table: Table, index: Value, offset: usize) -> Value {
        match self {
            Tables::Image => {
                let bases = s.uniform(0);
                let base = s.part(bases, table as usize);
                let base = s.bits(base, Type::I32);
                let address = s.op(Op::IAdd, [base, index]);
                let address = s.bits(address, Type::Ref);
                s.load(address, offset as u32)
            }
            Tables::Surrounding => {
                let words = Self::words(s, table, index, offset);
                let floats = [0, 1, 2, 3].map(|i| s.bits(words[i], Type::F32));
                s.op(Op::Compose, floats)
            }
        }
    }

    /// The same as four `u32`, with a function of the surrounding text.
    fn words(s: &mut Stage, table: Table, index: Value, offset: usize) -> Vec<Value> {
        let name = match table {
            Table::Nodes => "nodes_vector",
            Table::Triangles => "triangles_vector",
        };
        let offset = s.int(offset as i32);
        let index = s.op(Op::IAdd, [index, offset]);
        let index = s.bits(index, Type::U32);
        s.call(name, &[index], &[Type::U32; 4])
    }
}
