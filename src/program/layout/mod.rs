//! The second phase: records, blocks, textures and tables, and their addresses in the memory image.

pub mod alias_table;
pub mod area_light_points;
pub mod constants;
pub mod environment_map;
pub mod memory;
pub mod primvars;
pub mod textures;
