//! Integration tests of the compiler, as one program: its dependencies are linked once.

mod dependencies;
mod files;
mod golden;
mod invalid_profiles;
mod json_schema;
mod merge_rules;
mod shipped_profiles;
