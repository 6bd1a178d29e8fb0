//! schedc-objects
