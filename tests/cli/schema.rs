//! `schedc schema`

use expect_test::expect;
use serde_json::Value;

use crate::cli::harness::{EXAMPLE, Folder, Run, schedc};

#[path = "../../codegen/tests/json_schema/validator.rs"]
mod validator;

use validator::validate;

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

#[test]
fn explanations_match_their_schema() {
    let schema: Value = serde_json::from_str(&schedc(&["schema", "--of", "explain"]).ok()).expect("JSON");
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let explanations = [
        schedc(&["explain", "shop/web-1", EXAMPLE, "--against", "south-2", "-o", "json"]).json(),
        schedc(&["explain", "shop/cache-0", EXAMPLE, "--against", "gpu-1", "--all-filters", "-o", "json"]).json(),
        schedc(&["explain", "research/simulation", EXAMPLE, "-o", "json"]).json(),
        schedc(&["explain", "shop/checkout-canary", EXAMPLE, "-o", "json"]).json(),
        schedc(&["explain", "research/training-3", EXAMPLE, "--after", "-o", "json"]).json(),
    ];
    for explanation in &explanations {
        assert_eq!(validate(&schema, explanation), Vec::<String>::new(), "{explanation}");
        // Every key is described, so programs find it in the schema.
        let keys = explanation.as_object().expect("an object").keys();
        let undescribed: Vec<&String> = keys.filter(|key| schema["properties"].get(key.as_str()).is_none()).collect();
        assert!(undescribed.is_empty(), "{undescribed:?}");
    }
    let mut wrong = explanations[2].clone();
    wrong["remedies"]["found"][0]["changes"][0]["kind"] = "Unknown".into();
    wrong["nodes"][0]["feasible"] = "yes".into();
    let errors = validate(&schema, &wrong);
    let paths: Vec<&str> = errors.iter().map(|error| error.split_once(": ").expect("a keyword").0).collect();
    assert!(matches!(paths[..], ["/nodes/0/feasible", remedies] if remedies.starts_with("/remedies")), "{errors:?}");
}

#[test]
fn the_schema_of_an_output_needs_no_profile() {
    let run = schedc(&["schema", "--of", "explain", "edge"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("cannot be used with"), "{}", run.stderr);
}
