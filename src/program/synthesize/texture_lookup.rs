//! The function that finds the texture of a name while a program runs.

use crate::collect::string_origins::looks_for_textures;
use crate::records::textures::{FACTOR, TABLE, Textures};
use shadewright_ir::abi::Intrinsic;
use shadewright_ir::{Const, Function, FunctionBuilder, Module, Type, Value};

/// The function `(string) → ref` that returns the address of a texture's descriptor, for a
/// module that calls it.
pub fn find_texture_function(textures: &Textures) -> Function {
    let mut b = FunctionBuilder::linker(Intrinsic::TextureFind);
    b.result("return", Type::Ref);
    let name = b.param("name", Type::String);
    let id = b.bitcast(name, Type::U32);
    let displaced = match textures.table.bucket_shift() {
        Some(shift) => {
            let vector = entry_of(&mut b, id, FACTOR, shift, textures.table.displaced());
            let word = b.extract(vector, 0);
            let displacement = b.bitcast(word, Type::U32);
            b.ixor(id, displacement)
        }
        None => id,
    };
    let entry = entry_of(&mut b, displaced, textures.table.factor, textures.table.shift, TABLE);
    let [known, address] = [(0, Type::U32), (1, Type::Ref)].map(|(lane, ty)| {
        let word = b.extract(entry, lane);
        b.bitcast(word, ty)
    });
    let is_it = b.ieq(known, id);
    // The empty name has the identifier 0, as an empty slot of the table has.
    let zero = b.u32(0);
    let is_empty = b.ieq(id, zero);
    let missing = b.constant(Const::Ref(textures.table.missing()));
    let found = b.select(is_it, address, missing);
    let found = b.select(is_empty, missing, found);
    b.ret(vec![found]);
    b.finish()
}

/// Loads the vector of the table at an address that an identifier's product with a factor chooses.
fn entry_of(b: &mut FunctionBuilder, id: Value, factor: u32, shift: u32, table: u32) -> Value {
    let [factor, shift] = [factor, shift].map(|x| b.u32(x));
    let hash = b.imul(id, factor);
    let slot = b.ishr(hash, shift);
    let slot = b.bitcast(slot, Type::Ref);
    b.load(slot, table)
}

/// Adds the function that finds textures to a module that calls it and belongs to no scene: there
/// are none.
pub fn supply_none(module: &mut Module) {
    if looks_for_textures(module) && !module.functions.iter().any(|f| Intrinsic::TextureFind.is(&f.name)) {
        module.functions.push(find_texture_function(&Textures::default()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_ir::{eval, string_id};
    use std::sync::Arc;

    /// The memory image of the textures.
    struct Image(Vec<[u32; 4]>);

    impl eval::World for Image {
        fn load(&mut self, address: u32) -> [u32; 4] {
            self.0.get(address as usize).copied().unwrap_or_default()
        }
    }

    #[test]
    fn the_function_finds_each_name_and_no_other_in_tables_of_few_and_of_many() {
        for count in [3, 1500] {
            let names = || (0..count).map(|i| Arc::from(format!("maps/{i}.tex")));
            let textures = Textures::new(names().map(|name| (name, None)));
            let mut image = Image(vec![[0; 4]; TABLE as usize]);
            textures.push_table(&mut image.0);
            assert_eq!(image.0.len() as u64, u64::from(TABLE) + textures.vectors());
            for (number, name) in names().enumerate() {
                let slot = TABLE + textures.table.slot(string_id(&name));
                image.0[slot as usize] = [string_id(&name), number as u32, 0, 0];
            }
            let mut module = Module::new();
            module.functions.push(find_texture_function(&textures));
            let mut find = |name: Arc<str>| {
                let (function, limits) = (module.functions[0].name.clone(), eval::Limits::default());
                eval::eval(&module, &function, &[Const::String(name)], &mut image, limits).expect("it ends")
            };
            for (number, name) in names().enumerate() {
                assert_eq!(find(name), [Const::Ref(number as u32)]);
            }
            for other in ["", "maps/0.tey"] {
                assert_eq!(find(other.into()), [Const::Ref(textures.table.missing())], "{other}");
            }
        }
    }
}
