//! schedc-plugins
