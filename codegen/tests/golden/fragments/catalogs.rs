//! Catalog entries, and their checks.

use expect_test::expect;

use schedc_codegen::{SourceText, compile, emit};

use super::{Inline, PROFILE, code, item};

#[test]
fn catalog_entries_are_compared_with_plugins() {
    let code = code(PROFILE);
    let checks = &code[code.find("/// The catalog entry `View`").unwrap()..];
    expect![[r#"
        const _: () = {
            catalog_checks::check_declared_types::<
                MyPluginsView,
                (),
                (),
                (OptionalStateOf<GpuShare>, OptionalStateOf<NodePorts>),
            >();
            catalog_checks::pre_filter::<MyPluginsView>();
            catalog_checks::check_plugin(
                &catalog_checks::entry_at("my-plugins/schedc.toml", 26, 8),
                "View",
                &["pre-filter"],
                <MyPluginsView as Plugin>::NAME,
                implemented!(MyPluginsView),
            );
        };"#]]
    .assert_eq(&item(checks, "const _"));
}

#[test]
fn declared_kinds_are_listed_and_checked() {
    let code = code("[plugins]\nmulti-point = [\"PrioritySort\", \"Shifts\", \"DefaultBinder\"]");
    let kinds = &code[code.find("const KINDS").unwrap()..];
    let kinds = kinds[..kinds.find("];").unwrap()].trim_end();
    expect![[r#"
        const KINDS: &'static [model::CustomKind] = &[
                model::CustomKind {
                    name: "teams.v1",
                    api_version: "v1",
                    kind: "Team",
                    plural: "teams",
                    is_namespaced: false,
                },
                model::CustomKind {
                    name: "workshifts.v1beta1.example.com",
                    api_version: "example.com/v1beta1",
                    kind: "WorkShift",
                    plural: "workshifts",
                    is_namespaced: true,
                },"#]]
    .assert_eq(kinds);
    assert!(code.contains("const WATCHES: &'static [&'static str] = &[\"Node\", \"Pod\"];"));
    let checks = &code[code.find("/// The catalog entry `Shifts`").unwrap()..];
    expect![[r#"
        const _: () = {
            catalog_checks::check_declared_types::<Shifts, (), Lister, ()>();
            catalog_checks::pre_filter::<Shifts>();
            catalog_checks::enqueue_extensions::<Shifts>();
            catalog_checks::check_plugin(
                &catalog_checks::entry_at("my-plugins/schedc.toml", 32, 8),
                "Shifts",
                &["pre-filter", "enqueue-extensions"],
                <Shifts as Plugin>::NAME,
                implemented!(Shifts),
            );
            catalog_checks::check_index_kinds::<
                Shifts,
            >(
                &catalog_checks::entry_at("my-plugins/schedc.toml", 32, 8),
                "Shifts",
                &["workshifts.v1beta1.example.com", "teams.v1"],
            );
            catalog_checks::check_event_kinds::<
                Shifts,
            >(
                &catalog_checks::entry_at("my-plugins/schedc.toml", 32, 8),
                "Shifts",
                &["workshifts.v1beta1.example.com", "teams.v1"],
            );
        };"#]]
    .assert_eq(&item(checks, "const _"));
}

#[test]
fn plugins_run_after_those_that_they_read() {
    let text = "crates = [\"my-plugins\"]\n[plugins]\nmulti-point = [\"PrioritySort\", \"Gang\", \"GPUShare\", \"DefaultBinder\"]\n";
    for (text, error) in [
        (text.to_owned(), None),
        (
            format!("{text}pre-filter = []\n"),
            Some(
                "profiles/mine.toml:3:32: `Gang` reads the state of `GPUShare`, which does not run before it at \
                 `pre-filter`; name `GPUShare` before `Gang`, at `multi-point` or at `pre-filter`",
            ),
        ),
    ] {
        let sources = [SourceText { path: "profiles/mine.toml".to_owned(), text }];
        let errors = compile(&sources, &mut Inline).err().map(|errors| errors.one_lines().concat());
        assert_eq!(errors.as_deref(), error);
    }
}

#[test]
fn a_profile_may_have_the_name_of_a_framework_module() {
    let sources = [SourceText { path: "profiles/state.toml".to_owned(), text: String::new() }];
    let compilation = compile(&sources, &mut Inline).unwrap_or_else(|errors| panic!("{errors}"));
    let code = emit::render(&compilation).unwrap_or_else(|error| panic!("{error}"));
    assert!(code.contains("pub mod state {") && code.contains("pub mod state_ {"));
}
