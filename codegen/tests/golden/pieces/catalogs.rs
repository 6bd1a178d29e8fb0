//! Catalog entries, and what they say of others.

use expect_test::expect;

use schedc_codegen::{SourceText, compile, emit};

use super::{Inline, PROFILE, code, item};

#[test]
fn catalog_entries_are_proved() {
    let code = code(PROFILE);
    let proof = &code[code.find("/// The catalog entry `View`").unwrap()..];
    expect![[r#"
        const _: () = {
            proof::declares::<
                MyPluginsView,
                (),
                (),
                (MaybeStateOf<GpuShare>, MaybeStateOf<NodePorts>),
            >();
            proof::pre_filter::<MyPluginsView>();
            proof::agrees(
                &proof::at("my-plugins/schedc.toml", 29, 8),
                "View",
                &["pre-filter"],
                <MyPluginsView as Plugin>::NAME,
                implemented!(MyPluginsView),
            );
        };"#]]
    .assert_eq(&item(proof, "const _"));
}

#[test]
fn what_a_plugin_reads_runs_before_it() {
    let text = "crates = [\"my-plugins\"]\n[plugins]\nmulti-point = [\"PrioritySort\", \"Gang\", \"GPUShare\", \"DefaultBinder\"]\n";
    for (text, error) in [
        (text.to_owned(), None),
        (
            format!("{text}pre-filter = []\n"),
            Some(
                "profiles/mine.toml:3:32: `Gang` reads the state of `GPUShare`, which does not run before it at `pre-filter`",
            ),
        ),
    ] {
        let sources = [SourceText { path: "profiles/mine.toml".to_owned(), text }];
        let errors = compile(&sources, &mut Inline).err().map(|errors| errors.one_lines().concat());
        assert_eq!(errors.as_deref(), error);
    }
}

#[test]
fn a_profile_may_be_called_as_a_module_of_ours() {
    let sources = [SourceText { path: "profiles/state.toml".to_owned(), text: String::new() }];
    let compilation = compile(&sources, &mut Inline).unwrap_or_else(|errors| panic!("{errors}"));
    let code = emit::render(&compilation).unwrap_or_else(|error| panic!("{error}"));
    assert!(code.contains("pub mod state {") && code.contains("pub mod state_ {"));
}
