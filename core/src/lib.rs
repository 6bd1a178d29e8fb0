//! schedc-core
