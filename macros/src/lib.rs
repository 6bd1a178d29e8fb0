//! schedc-macros
