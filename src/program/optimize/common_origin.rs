//! Splitting intersection entries for rays with a common origin: what depends on the origin alone
//! is computed once for all of them.

use shadewright_ir::abi::{EntryPoint, common_origin_entries, intersect_entry};
use shadewright_ir::passes::packets::{self, Once};
use shadewright_ir::{Function, FunctionKind, Module, TargetInfo};

/// Splits the entries of all kinds, once they are optimized.
pub fn split_by_origin(module: &mut Module, kinds: usize, target: &TargetInfo) {
    for n in 0..kinds {
        let entry = module.function(&intersect_entry(n));
        let once = Once::Numbers(target);
        let parts = entry.and_then(|entry| packets::split(entry, &["orig", "block"], common_origin_entries(n), once));
        let roles = [EntryPoint::IntersectionOrigin(n as u32), EntryPoint::IntersectionRest(n as u32)];
        let parts = parts.into_iter().flat_map(|parts| [parts.shared, parts.rest].into_iter().zip(roles));
        module.functions.extend(parts.map(|(part, role)| Function { kind: FunctionKind::Entry(role), ..part }));
    }
}
