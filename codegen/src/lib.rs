//! schedc-codegen
