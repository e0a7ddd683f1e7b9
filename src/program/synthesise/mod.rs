//! The third phase: writes the entries and the functions that shaders call.

pub mod area_lights;
pub mod coordinate_systems;
pub mod coshaders;
pub mod entries;
pub mod environments;
pub mod gather_outputs;
pub mod lights;
pub mod outputs;
pub mod paths;
pub mod ray_depths;
pub mod specialisation;
pub mod surface_state;
pub mod visibility;
pub mod volumes;
