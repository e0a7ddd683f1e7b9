//! Queries of tests on a kernel's source: whether it validates, and how large its structures are.

use naga::valid::{Capabilities, ValidationFlags, Validator};

/// The module, which is valid without any optional capability.
pub fn parsed(wgsl: &str) -> naga::Module {
    let module = naga::front::wgsl::parse_str(wgsl).unwrap_or_else(|e| panic!("{}", e.emit_to_string(wgsl)));
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
    validator.validate(&module).unwrap_or_else(|e| panic!("{}", e.emit_to_string(wgsl)));
    module
}

/// Size in bytes of the structure of that name.
pub fn struct_size(module: &naga::Module, name: &str) -> usize {
    let mut layouter = naga::proc::Layouter::default();
    layouter.update(module.to_ctx()).expect("a layout");
    let (handle, _) = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some(name)).expect(name);
    layouter[handle].size as usize
}
