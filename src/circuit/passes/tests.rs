//! What each pass does to small graphs.
