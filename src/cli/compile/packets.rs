//! `--emit report`: the cost of procedural primitives for packets of rays.

use shadewright::codegen::rpu::TARGET;
use shadewright::ir::Module;
use shadewright::ir::passes::packets::{Packet, operations, shared_numbers};
use shadewright::lang::rtsl::state::Method;
use std::fmt::Write as _;

/// The operations of each `intersect` method of a module per ray of a packet, as a table; empty
/// where there is none.
pub fn table(module: &Module) -> String {
    let method = format!(".{}", Method::Intersect.name());
    let mut text = String::new();
    for f in module.functions.iter().filter(|f| f.name.ends_with(&method)) {
        let _ = writeln!(text, "\n{:<40} {:>10} {:>9}", f.name, "operations", "expensive");
        for (name, packet) in Packet::ALL {
            let cost = operations(f, packet);
            let _ = writeln!(text, "  {name:<38} {:>10} {:>9}", cost.longest, cost.expensive);
        }
        // What the RPU does of that; it depends on no fact about directions.
        match shared_numbers(f, &TARGET) {
            0 => text += "  (the RPU works out nothing once a packet)\n",
            numbers => {
                let _ = writeln!(text, "  (the RPU works out {numbers} numbers once for rays with a common origin)");
            }
        }
    }
    text
}
