//! What users write and what they read when it is wrong.
