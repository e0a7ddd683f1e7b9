//! Scenes for other programs: written as RIB and glTF files, or packed with everything that they read.

pub mod export;
pub mod pack;
