//! Removes functions that are unreachable from entry points. A module without entry points (a
//! library) stays as it is.

use crate::{Module, Op};

/// Runs the pass; returns the number of functions removed.
pub fn run(module: &mut Module) -> usize {
    let index = module.index();
    let is_entry = |i: &usize| module.functions[*i].kind.is_entry();
    let mut work: Vec<usize> = (0..module.functions.len()).filter(is_entry).collect();
    if work.is_empty() {
        return 0;
    }
    let mut used = vec![false; module.functions.len()];
    while let Some(f) = work.pop() {
        if std::mem::replace(&mut used[f], true) {
            continue;
        }
        for inst in module.functions[f].blocks.iter().flat_map(|b| &b.insts) {
            if let Op::Call(name) = &inst.op {
                work.extend(index.get(name));
            }
        }
    }
    let before = module.functions.len();
    let mut used = used.into_iter();
    module.functions.retain(|_| used.next().unwrap_or(false));
    before - module.functions.len()
}

#[cfg(test)]
mod tests {
    use super::super::testing::check_module;

    const LIBRARY: &str =
        "fn a() {\nb0:\n  call b()\n  ret\n}\n\nfn b() {\nb0:\n  ret\n}\n\nfn c() {\nb0:\n  call a()\n  ret\n}\n";

    #[test]
    fn functions_that_entries_reach_stay() {
        let entry = "\nentry main() {\nb0:\n  call a()\n  ret\n}\n";
        let kept = "fn a() {\nb0:\n  call b()\n  ret\n}\n\nfn b() {\nb0:\n  ret\n}\n";
        check_module(super::run, &format!("{LIBRARY}{entry}"), &format!("{kept}{entry}"));
    }

    #[test]
    fn a_library_keeps_all_its_functions() {
        check_module(super::run, LIBRARY, LIBRARY);
    }
}
