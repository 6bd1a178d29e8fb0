//! `schedc schema`

use expect_test::expect;
use serde_json::Value;

use crate::cli::harness::{Folder, Run, schedc};

fn schema(run: Run) -> Value {
    let schema: Value = serde_json::from_str(&run.ok()).expect("JSON");
    assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
    schema
}

fn names(schema: &Value, table: &str) -> Vec<String> {
    let properties = schema["properties"][table]["properties"].as_object().expect("a table");
    properties.keys().cloned().collect()
}

#[test]
fn a_folder_without_profiles_has_the_schema_of_schedc() {
    let folder = Folder::with(&[("profiles/README.md", "")]);
    let in_empty_folder = schema(folder.schedc(&["schema"]));
    assert_eq!(in_empty_folder, schema(Folder::with(&[]).schedc(&["schema"])));
    assert!(names(&in_empty_folder, "args").contains(&"NodeResourcesFit".to_owned()));
}

#[test]
fn plugins_of_the_package_and_of_crates_are_in_the_schema() {
    let catalog = |name: &str, plugin: &str| {
        format!(
            "crate = \"{name}\"\n[[plugin]]\nname = \"{plugin}\"\npath = \"{name}::{plugin}\"\npoints = [\"permit\"]\n"
        )
    };
    let (own, other) = (catalog("mine", "Mine"), catalog("other", "Other"));
    let folder = Folder::with(&[
        ("Cargo.toml", "[package]\nname = \"mine\"\n[workspace]\n"),
        ("schedc.toml", &own),
        ("src/lib.rs", ""),
        ("other/schedc.toml", &other),
        ("profiles/own.toml", "crates = [\"mine\"]\n"),
        (
            "profiles/other.toml",
            "crates = [{ path = \"../other\" }, { path = \"..\" }]\n[plugins]\nfilter = [\"Wrong\"]\n",
        ),
    ]);
    let has = |schema: &Value| {
        names(schema, "args").into_iter().filter(|name| ["Mine", "Other"].contains(&&**name)).collect::<Vec<_>>()
    };
    assert_eq!(has(&schema(folder.schedc(&["schema"]))), ["Mine", "Other"]);
    assert_eq!(has(&schema(folder.schedc(&["schema", "own"]))), ["Mine"]);
    assert_eq!(has(&schema(folder.shell("rm profiles/* && schedc schema"))), ["Mine"]);
    assert_eq!(has(&schema(folder.shell("rmdir profiles && schedc schema"))), ["Mine"]);
    assert_eq!(has(&schema(schedc(&["schema", "edge"]))), Vec::<String>::new());
}

#[test]
fn a_catalog_of_the_package_that_cannot_be_read_is_an_error() {
    let folder = Folder::with(&[("Cargo.toml", "[package]\nname = \"mine\"\n[workspace]\n")]);
    let run = folder.shell(r"printf '\377' > schedc.toml; schedc schema 2>&1 | sed 's|/.*/||'");
    expect![[r#"
        error: cannot read schedc.toml: stream did not contain valid UTF-8

        error: 1 error
    "#]]
    .assert_eq(&run.ok());
}
