//! The standard library, written in the shading languages themselves.
