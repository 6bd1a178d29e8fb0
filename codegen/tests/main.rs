//! Integration tests of the compiler: one program, so that its dependencies are linked once.

mod dependencies;
mod files;
mod golden;
mod invalid_profiles;
mod json_schema;
mod merge_rules;
mod shipped_profiles;
