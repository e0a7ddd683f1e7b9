//! Which transcendental functions shaders call: `sin`, `exp` and their like.
//!
//! It takes a module of shaders and of what they call of the standard library, and replaces calls.
//! `docs/math.md` has the errors and costs of the functions.

use shadewright_base::named::{Named, Row};
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::SourceMap;
use shadewright_ir::abi::library;
use shadewright_ir::{FunctionOrigin, Inlining, Module, Op};
use shadewright_lang::{FrontEndOptions, stdlib};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Transcendental functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Math {
    /// The functions of the standard library, with errors near the rounding of single precision:
    /// both back ends compute the same bits.
    #[default]
    Exact,
    /// In what shaders call themselves, those that look right (Olano 1998, §4.5.3), again the same
    /// bits on both back ends. The library's own calls, such as those of cameras and light, stay
    /// exact.
    Fast,
    /// On a GPU, its own, with the errors that its driver has; on the RPU those of the standard
    /// library.
    Native,
}

impl Named for Math {
    const TABLE: &'static [Row<Self>] = &[
        ("exact", "Errors of a few units in the last place, the same bits on the GPU and on the RPU", Self::Exact),
        (
            "fast",
            "Errors below 10 %: visually accurate and about 1.7 times as fast on the RPU; the same bits on both",
            Self::Fast,
        ),
        ("native", "The GPU's own, as exact as its driver makes them; on the RPU the exact ones", Self::Native),
    ];
}

/// Replaces the functions that a module calls.
///
/// # Errors
/// None, unless the standard library itself is wrong.
pub fn choose(module: &mut Module, math: Math, sources: &mut SourceMap) -> Result<(), Diagnostics> {
    match math {
        Math::Exact => Ok(()),
        Math::Fast => call_fast(module, sources),
        Math::Native => {
            let names = library::TRANSCENDENTAL.map(library::name);
            let functions = module.functions.iter_mut().filter(|f| names.iter().any(|name| *name == *f.name));
            functions.for_each(|f| f.inlining = Inlining::Native);
            Ok(())
        }
    }
}

/// Makes shaders call the fast versions.
fn call_fast(module: &mut Module, sources: &mut SourceMap) -> Result<(), Diagnostics> {
    let versions: HashMap<String, Arc<str>> = library::TRANSCENDENTAL
        .iter()
        .map(|name| (library::name(name), library::name(&format!("{}{name}", library::FAST)).into()))
        .collect();
    let mut called = BTreeSet::new();
    for f in &mut module.functions {
        if f.origin != FunctionOrigin::User && !library::is_componentwise(&f.name) {
            continue;
        }
        for inst in f.blocks.iter_mut().flat_map(|b| &mut b.insts) {
            if let Op::Call(name) = &mut inst.op
                && let Some(fast) = versions.get(&**name)
            {
                *name = fast.clone();
                called.insert(fast.clone());
            }
        }
    }
    // Overloads have one name in the library's text.
    let name = |fast: &Arc<str>| fast.split('.').nth(1).unwrap_or_default().to_string();
    let names: BTreeSet<String> = called.iter().map(name).collect();
    if names.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let unit = stdlib::compile(sources, &names, &FrontEndOptions::default())?;
    module.absorb(unit.module);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_ir::Function;
    use shadewright_lang::rsl::compile;

    fn chosen(source: &str, math: Math) -> Module {
        let mut sources = SourceMap::new();
        let file = sources.add("t.sl", None, source);
        let mut module = compile(&mut sources, file, &FrontEndOptions::default()).expect("it compiles").module;
        choose(&mut module, math, &mut sources).expect("the library is right");
        shadewright_ir::verify(&module).expect("it is valid");
        module
    }

    fn calls(f: &Function) -> Vec<&str> {
        let insts = f.blocks.iter().flat_map(|b| &b.insts);
        insts.filter_map(|i| if let Op::Call(name) = &i.op { Some(&**name) } else { None }).collect()
    }

    #[test]
    fn shaders_call_fast_functions_and_the_library_exact_ones() {
        let module = chosen(
            "color f(float x; color c) { return sin(c) * log(x, 3) * specular(normal (0, 0, 1), vector (0, 0, 1), x); }
             float g(float x) { return atan(x, exp2(x)) + sqrt(x); }",
            Math::Fast,
        );
        let called = |name: &str| calls(module.function(name).expect("the function"));
        assert_eq!(called("g"), ["std.fastexp2", "std.fastatan.ff.f"]);
        assert!(called("f").contains(&"std.fastlog.ff.f"), "{:?}", called("f"));
        let componentwise =
            module.functions.iter().find(|f| library::is_componentwise(&f.name)).expect("sin of a color");
        assert_eq!(calls(componentwise), ["std.fastsin"; 3]);
        // `specular` is the library's.
        assert!(module.function("std.pow").is_some());
    }

    #[test]
    fn every_transcendental_function_has_a_fast_version() {
        let source = "float f(float x, y) {
            return sin(x) + cos(x) + tan(x) + asin(x) + acos(x) + atan(x) + atan(y, x) + exp(x) + exp2(x) + log(x)
                + log(x, y) + log2(x) + pow(x, y);
        }";
        let module = chosen(source, Math::Fast);
        let mut expected: Vec<String> = library::TRANSCENDENTAL.iter().map(|n| format!("std.fast{n}")).collect();
        let mut called = calls(module.function("f").expect("f"));
        called.sort_unstable();
        expected.sort_unstable();
        assert_eq!(called, expected);
        let native = chosen(source, Math::Native);
        let marked = native.functions.iter().filter(|f| f.inlining == Inlining::Native);
        assert_eq!(marked.count(), library::TRANSCENDENTAL.len());
    }
}
