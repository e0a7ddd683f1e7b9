//! Nothing: the manifest beside this file is what counts.
