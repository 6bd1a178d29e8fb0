//! Plugin arguments.
