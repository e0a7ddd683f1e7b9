//! (module paragraph)
