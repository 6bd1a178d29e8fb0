use super::*;

const SOURCE: &str = r#"
    const MOST: i64 = 100;

    #[derive(Clone, Copy, schedc_core::args::Args)]
    pub struct SpeedArgs {
        /// The label with the
        /// speed.
        #[args(default = "example.com/speed", format = "qualified-name")]
        pub label: &'static str,
        #[args(required, range = 1..=MOST)]
        pub least: i64,
        pub mode: Mode,
        #[args(unique = "")]
        pub zones: List<&'static str, 4>,
    }

    #[derive(Clone, Copy, Args)]
    pub enum Mode {
        #[args(default)]
        Slow,
        Fast,
    }

    impl Plugin for Speed {
        type Args = SpeedArgs;
    }

    impl Plugin for Plain {
        type Args = NoArgs;
    }

    #[plugin]
    impl Plugin for WithoutItems {}

    #[derive(Clone, Copy, Args)]
    pub struct Simple;

    #[plugin]
    impl schedc_core::SimpleFilter for Simple {}

    #[derive(Clone, Copy, Args)]
    pub struct Bright {
        #[args(default = 1)]
        least: i64,
    }

    #[plugin]
    impl SimpleScore for Bright {}

    impl Plugin for Generated {
        type Args = made_by_a_macro::Args;
    }

    #[cfg(test)]
    mod tests {
        impl Plugin for Speed {
            type Args = NoArgs;
        }
    }
"#;

#[test]
fn the_derive_declaration_determines_the_arguments() {
    let declared = DeclaredArgs::read(&[SOURCE.to_owned(), "not Rust".to_owned()]);
    let ArgsSchema::Known(Schema::Table { fields }) = declared.of("fast::Speed") else {
        panic!("the arguments are declared");
    };
    let fields: Vec<_> =
        fields.into_iter().map(|field| (field.name, field.required, field.doc, field.schema)).collect();
    let field = |name: &str, required, doc: &str, schema| (name.to_owned(), required, doc.to_owned(), schema);
    let element = Box::new(Schema::String { format: Format::Any });
    assert_eq!(
        fields,
        [
            field("label", false, "The label with the speed.", Schema::String { format: Format::QualifiedName }),
            field("least", true, "", Schema::Integer { min: Some(1), max: Some(100) }),
            field("mode", false, "", Schema::Enum { values: vec!["Slow".to_owned(), "Fast".to_owned()] }),
            field(
                "zones",
                false,
                "",
                Schema::List { element, min: Some(0), max: Some(4), unique: Some(String::new()), increasing: None }
            ),
        ]
    );
    let bright = Schema::Table {
        fields: vec![FieldSchema {
            name: "least".to_owned(),
            required: false,
            doc: String::new(),
            schema: Schema::Integer { min: None, max: None },
        }],
    };
    assert_eq!(declared.of("fast::Bright"), ArgsSchema::Known(bright));
    assert_eq!(declared.of("fast::Plain"), ArgsSchema::None);
    assert_eq!(declared.of("fast::WithoutItems"), ArgsSchema::None);
    assert_eq!(declared.of("fast::Simple"), ArgsSchema::None);
}

/// `plugins/tests/catalog` compares `in-tree-args.json` with the structs; this test compares it with their source text.
#[test]
fn sources_describe_the_arguments_of_all_in_tree_plugins() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = crate::load::rust_sources(&folder.join("../plugins"));
    let declared = DeclaredArgs::read(&sources);
    let known: std::collections::BTreeMap<String, Schema> = serde_json::from_str(crate::schema::IN_TREE_ARGS).unwrap();
    assert!(known.len() > 7);
    for (plugin, schema) in known {
        assert_eq!(declared.of(&format!("schedc_plugins::{plugin}")), ArgsSchema::Known(schema), "{plugin}");
    }
    assert_eq!(declared.of("schedc_plugins::NodeUnschedulable"), ArgsSchema::None);
}

#[test]
fn undetermined_arguments_are_left_to_rustc() {
    let declared = DeclaredArgs::read(&[SOURCE.to_owned()]);
    assert_eq!(declared.of("fast::Generated"), ArgsSchema::Opaque);
    assert_eq!(declared.of("fast::Unknown"), ArgsSchema::Opaque);
    let twice = DeclaredArgs::read(&[SOURCE.to_owned(), SOURCE.to_owned()]);
    assert_eq!(twice.of("fast::Speed"), ArgsSchema::Opaque);
}

#[test]
fn recursive_types_are_left_to_rustc() {
    for field in ["next: Option<A>", "entries: Seq<A>", "other: B"] {
        let source = format!(
            "#[derive(Args)] pub struct A {{ pub {field} }}
            #[derive(Args)] pub struct B {{ pub a: Option<A> }}
            impl Plugin for Endless {{ type Args = A; }}"
        );
        assert_eq!(DeclaredArgs::read(&[source]).of("Endless"), ArgsSchema::Opaque, "{field}");
    }
}

#[test]
fn paths_into_other_crates_are_left_to_rustc() {
    let schema = |args: &str, max: &str, mode: &str| {
        let source = format!(
            "const MAX: i64 = 9;
            #[derive(Args)] pub enum Mode {{ #[args(default)] Slow }}
            #[derive(Args)] pub struct SpeedArgs {{
                #[args(default = 1, range = 0..={max})] pub most: i64,
                pub mode: {mode},
            }}
            impl Plugin for limits::Speed {{ type Args = {args}; }}"
        );
        DeclaredArgs::read(&[source]).of("Speed")
    };
    let most = |schema: ArgsSchema| match schema {
        ArgsSchema::Known(Schema::Table { fields }) => fields.into_iter().next().map(|field| field.schema),
        _ => None,
    };
    for (path, max) in [("MAX", Some(9)), ("self::MAX", Some(9)), ("i64::MAX", None), ("other::MAX", None)] {
        let expected = Some(Schema::Integer { min: Some(0), max });
        assert_eq!(most(schema("SpeedArgs", path, "crate::Mode")), expected, "{path}");
    }
    assert_eq!(schema("SpeedArgs", "9", "other::Mode"), ArgsSchema::Opaque);
    assert_eq!(schema("other::SpeedArgs", "9", "Mode"), ArgsSchema::Opaque);
    assert_eq!(schema("schedc_core::args::NoArgs", "9", "Mode"), ArgsSchema::None);
}

/// Checks the maximum of an argument in a crate of two files: the first one declares `MAX`, the second one
/// the range.
#[track_caller]
fn check_import(limits: &str, header: &str, path: &str, expected: Option<i64>) {
    let plugin = format!(
        "{header}
        #[derive(Args)] pub struct SpeedArgs {{ #[args(default = 1, range = 0..={path})] pub most: i64 }}
        impl Plugin for Speed {{ type Args = SpeedArgs; }}"
    );
    let schema = DeclaredArgs::read(&[limits.to_owned(), plugin]).of("Speed");
    let ArgsSchema::Known(Schema::Table { fields }) = &schema else { panic!("{header}: {schema:?}") };
    assert_eq!(fields[0].schema, Schema::Integer { min: Some(0), max: expected }, "{header}");
}

#[test]
fn imports_determine_the_origin_of_a_name() {
    let limits = "pub const MAX: i64 = 9; pub const MOST: i64 = 8;";
    check_import(limits, "use crate::limits::MAX;", "MAX", Some(9));
    check_import(limits, "use crate::limits::{self, MOST as MAX};", "MAX", Some(8));
    check_import(limits, "mod limits; use limits::MAX;", "MAX", Some(9));
    check_import(limits, "use super::*; use schedc_core::prelude::*;", "MAX", Some(9));
    // Items of another crate, and ambiguous names.
    check_import(limits, "use other::MAX;", "MAX", None);
    check_import(limits, "use other::{a::{MAX, MIN}, b};", "MAX", None);
    check_import(limits, "use other::MIN as MAX;", "self::MAX", None);
    check_import(limits, "use ::limits::MAX; mod limits;", "MAX", None);
    check_import(limits, "use crate::limits::*; use other::*;", "MAX", None);
    check_import(limits, "mod a { use other::MAX; } mod b { use crate::limits::MAX; }", "MAX", None);
    // A constant of the file that only rustc can evaluate.
    check_import(limits, "use super::*; const MAX: i64 = other();", "MAX", None);
    // The first file exports an item of another crate under the same name.
    check_import("const MAX: i64 = 9; pub use other::MOST as MAX;", "use crate::limits::MAX;", "MAX", None);
}

#[test]
fn a_path_to_another_module_is_not_a_constant_of_the_file() {
    check_import("pub const MAX: i64 = 9;", "const MAX: i64 = 5;", "MAX", Some(5));
    check_import("pub const MAX: i64 = 9;", "const MAX: i64 = 5;", "crate::limits::MAX", None);
    check_import("pub const MAX: i64 = 9;", "", "crate::limits::MAX", Some(9));
}
