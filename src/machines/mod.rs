//! Models of machines that run whole scenes: each compiles the linked program for itself, renders
//! with it, and says what that costs.

pub mod pixelflow;
