//! The predefined variables of surface shaders (RISpec 3.2, §11.1).

use shadewright_ir::Type;

/// The predefined variables of surfaces, with their types.
pub const SURFACE_GLOBALS: [(&str, Type); 22] = [
    ("P", Type::Vec3),
    ("N", Type::Vec3),
    ("Ng", Type::Vec3),
    ("I", Type::Vec3),
    ("E", Type::Vec3),
    ("Cs", Type::Vec3),
    ("Os", Type::Vec3),
    ("dPdu", Type::Vec3),
    ("dPdv", Type::Vec3),
    ("s", Type::F32),
    ("t", Type::F32),
    ("u", Type::F32),
    ("v", Type::F32),
    ("du", Type::F32),
    ("dv", Type::F32),
    ("ncomps", Type::F32),
    ("time", Type::F32),
    ("dtime", Type::F32),
    ("dPdtime", Type::Vec3),
    ("raydepth", Type::F32),
    ("Ci", Type::Vec3),
    ("Oi", Type::Vec3),
];
