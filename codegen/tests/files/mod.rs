//! Profiles and catalogs in files: selection, search, and errors.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};
use schedc_codegen::load::{CargoEnvironment, Embedded, Input, load_inputs};
use schedc_codegen::{Compilation, Diagnostics, Options, emit, load, select};

const CATALOG: &str = r#"crate = "my_plugins"

[columns]
node-gpus = "my_plugins::Gpus"

[[plugin]]
name = "GpuFit"
path = "my_plugins::GpuFit"
points = ["filter"]
columns = ["node-gpus", "node-labels", "node-index"]
"#;

/// A package `my-scheduler` that depends on `my-plugins`, and a folder `other` that it does not depend on.
struct Project {
    root: PathBuf,
}

impl Project {
    fn new(name: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        if root.exists() {
            fs::remove_dir_all(&root).unwrap();
        }
        let project = Self { root };
        let package = |name: &str| format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n[workspace]\n");
        let dependencies = "[dependencies]\nmy-plugins = { path = \"../my-plugins\" }\nbare = { path = \"../bare\" }\n";
        project.write("app/Cargo.toml", &format!("{}{dependencies}", package("my-scheduler")));
        project.write("app/src/lib.rs", "");
        for name in ["my-plugins", "bare"] {
            project.write(&format!("{name}/Cargo.toml"), &package(name));
            project.write(&format!("{name}/src/lib.rs"), "");
        }
        project.write("my-plugins/schedc.toml", CATALOG);
        project.write("other/schedc.toml", &CATALOG.replace("my_plugins", "other").replace("GpuFit", "Other"));
        project
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn load(&self, profiles: &[PathBuf]) -> Result<Compilation, Diagnostics> {
        load(profiles, &Options { manifest_dir: self.root.join("app") })
    }

    /// Compares the errors, without the folder of the test.
    fn check(&self, profiles: &[PathBuf], expect: Expect) {
        self.check_errors(&self.load(profiles).unwrap_err(), expect);
    }

    fn check_errors(&self, errors: &Diagnostics, expect: Expect) {
        expect.assert_eq(&errors.render(false).replace(&*self.root.to_string_lossy(), "ROOT"));
    }
}

#[test]
fn crates_are_found_among_the_dependencies_and_in_folders() {
    let project = Project::new("found");
    let profile = project.write(
        "app/profiles/gpu.toml",
        r#"
        crates = ["my-plugins", { path = "../../other" }]
        [plugins]
        filter = { enabled = ["GpuFit", "Other"] }
        "#,
    );
    let compilation = project.load(std::slice::from_ref(&profile)).unwrap_or_else(|errors| panic!("{errors}"));
    let crates: Vec<&str> = compilation.catalogs.iter().map(|catalog| catalog.crate_name.as_str()).collect();
    assert_eq!(crates, ["schedc_plugins", "my_plugins", "other"]);
    let (_, plugin) = compilation.plans[0].find("GpuFit").unwrap();
    expect![[r#"
        [
            Declared(
                State {
                    name: "node-gpus",
                    path: "my_plugins::Gpus",
                    with_args: false,
                    description: "",
                },
            ),
            Declared(
                State {
                    name: "node-labels",
                    path: "schedc_plugins::columns::NodeLabels",
                    with_args: false,
                    description: "Labels, the integers among their values, and the name of the node",
                },
            ),
            NodeIndex,
        ]
    "#]]
    .assert_debug_eq(&plugin.entry.columns);
    let root = &project.root;
    let [mine, other] = ["my-plugins/schedc.toml", "other/schedc.toml"].map(|catalog| root.join(catalog));
    assert_eq!(compilation.watched, [profile, mine, other, root.join("app/Cargo.toml")]);
}

#[test]
fn arguments_of_other_crates_are_checked_as_their_sources_declare_them() {
    let project = Project::new("declared-args");
    project.write("my-plugins/src/lib.rs", "mod gpu_fit;\npub use gpu_fit::GpuFit;\n");
    project.write(
        "my-plugins/src/gpu_fit.rs",
        r#"
        #[derive(Clone, Copy, Args)]
        pub struct GpuFitArgs {
            /// The label with the number of GPUs.
            #[args(default = "example.com/gpus", format = "qualified-name")]
            pub label: &'static str,
            #[args(default = 1, range = 1..=8)]
            pub at_least: i64,
        }

        impl Plugin for GpuFit {
            type Args = GpuFitArgs;
        }
        "#,
    );
    let profile = project.write(
        "app/profiles/gpu.toml",
        "crates = [\"my-plugins\"]\n[plugins]\nfilter = { enabled = [\"GpuFit\"] }\n\
         [args.GpuFit]\nlabel = \"a b\"\nat-lest = 2\nat-least = 9\n",
    );
    project.check(&[profile], expect![[r#"
        error: `label` of GpuFit cannot be `a b`
         --> profiles/gpu.toml:5:9
          |
        5 | label = "a b"
          |         ^^^^^ not a qualified name
          |
          = note: `name` or `prefix/name`: the prefix a DNS subdomain, the name at most 63 letters, digits, `-`, `_`, `.`, with a letter or digit at both ends

        error: GpuFit has no argument `at-lest`
         --> profiles/gpu.toml:6:1
          |
        6 | at-lest = 2
          | ^^^^^^^ unknown argument
          |
          = note: known here: `label` and `at-least`
        help: did you mean `at-least`?
          |
        6 | at-least = 2
          |      +

        error: `at-least` of GpuFit must be in 1..=8, not 9
         --> profiles/gpu.toml:7:12
          |
        7 | at-least = 9
          |            ^ out of range

        error: 3 errors in profiles/gpu.toml
    "#]]);
}

#[test]
fn embedded_profiles_need_no_files() {
    let project = Project::new("embedded");
    let profile = project.write(
        "app/profiles/gpu.toml",
        "crates = [\"my-plugins\", { path = \"../../other\" }]\n\n[plugins]\nfilter = { enabled = [\"GpuFit\", \"Other\"] }\r\n",
    );
    let compilation = project.load(&[profile]).unwrap_or_else(|errors| panic!("{errors}"));
    let plan = &compilation.plans[0];
    let text = |file| compilation.files.text(file).to_owned();
    let embedded = Input::Embedded(Embedded {
        path: plan.path.clone(),
        text: text(plan.file),
        catalogs: plan.crates.iter().map(|named| (named.written.clone(), text(named.catalog))).collect(),
    });
    let elsewhere = Options { manifest_dir: project.root.join("nowhere") };
    let recompiled = load_inputs(&[embedded], &elsewhere, &CargoEnvironment::of_process());
    let recompiled = recompiled.unwrap_or_else(|errors| panic!("{errors}"));
    assert!(recompiled.watched.is_empty());
    let code = emit::render(&recompiled).unwrap_or_else(|error| panic!("{error}"));
    // Embedded catalogs are named by their crates, not by their locations. The line breaks depend on the lengths of these
    // names, so only the tokens are compared.
    let of_files = emit::render(&compilation).unwrap_or_else(|error| panic!("{error}"));
    let of_files = of_files.replace(&*format!("{}/my-plugins", project.root.display()), "my-plugins");
    let of_files = of_files.replace(&*format!("{}/other", project.root.display()), "../../other");
    let tokens = |code: &str| code.replace(|letter: char| letter.is_whitespace() || letter == ',', "");
    assert!(tokens(&code) == tokens(&of_files), "{code}");
    let start = code.find("const SOURCES").unwrap();
    let sources: Vec<&str> = code[start..].lines().take_while(|line| !line.contains("const HASH")).collect();
    let [until_catalogs, catalogs] = [&sources[..10], &sources[10..]].map(|lines| lines.join("\n") + "\n");
    expect![[r#"
        const SOURCES: &'static [ProfileSource] = &[
                ProfileSource {
                    path: "profiles/gpu.toml",
                    lines: &[
                        "crates = [\"my-plugins\", { path = \"../../other\" }]",
                        "",
                        "[plugins]",
                        "filter = { enabled = [\"GpuFit\", \"Other\"] }\r",
                        "",
                    ],
    "#]]
    .assert_eq(&until_catalogs);
    assert!(catalogs.contains("\"my-plugins\"") && catalogs.contains("\"../../other\""), "{catalogs}");
    assert!(!code.contains(&*project.root.to_string_lossy()));
}

#[test]
fn missing_crates_are_errors() {
    let project = Project::new("not_found");
    let profile = project.write(
        "app/profiles/gpu.toml",
        "crates = [\"my-plugin\", \"far-away\", \"bare\", { path = \"../nowhere\" }]\n",
    );
    project.check(&[profile], expect![[r#"
        error: `my-plugin` is not a dependency of my-scheduler
         --> profiles/gpu.toml:1:11
          |
        1 | crates = ["my-plugin", "far-away", "bare", { path = "../nowhere" }]
          |           ^^^^^^^^^^^ expected a package under `[dependencies]` in the Cargo.toml of my-scheduler
          |
        help: did you mean `my-plugins`?
          |
        1 | crates = ["my-plugins", "far-away", "bare", { path = "../nowhere" }]
          |                     +

        error: `far-away` is not a dependency of my-scheduler
         --> profiles/gpu.toml:1:24
          |
        1 | crates = ["my-plugin", "far-away", "bare", { path = "../nowhere" }]
          |                        ^^^^^^^^^^ expected a package under `[dependencies]` in the Cargo.toml of my-scheduler
          |
          = help: run `cargo add far-away`, or name its folder: `{ path = ".." }`

        error: crate `bare` has no schedc.toml
         --> profiles/gpu.toml:1:36
          |
        1 | crates = ["my-plugin", "far-away", "bare", { path = "../nowhere" }]
          |                                    ^^^^^^ no catalog of plugins
          |
          = note: looked for ROOT/bare/schedc.toml

        error: crate `../nowhere` has no schedc.toml
         --> profiles/gpu.toml:1:53
          |
        1 | crates = ["my-plugin", "far-away", "bare", { path = "../nowhere" }]
          |                                                     ^^^^^^^^^^^^ no catalog of plugins
          |
          = note: looked for ROOT/app/nowhere/schedc.toml

        error: 4 errors in profiles/gpu.toml
    "#]]);
}

#[test]
fn errors_in_a_catalog_show_its_path() {
    let project = Project::new("bad_catalog");
    project.write("my-plugins/schedc.toml", &CATALOG.replace("\"node-labels\"", "\"node-lables\""));
    let a = project.write("app/profiles/a.toml", "scheduler-name = \"a\"\ncrates = [\"my-plugins\"]\n");
    let b = project.write("app/profiles/b.toml", "scheduler-name = \"b\"\ncrates = [\"my-plugins\"]\n");
    project.check(&[a, b], expect![[r#"
        error: unknown column `node-lables`
          --> ROOT/my-plugins/schedc.toml:10:25
           |
        10 | columns = ["node-gpus", "node-lables", "node-index"]
           |                         ^^^^^^^^^^^^^ not declared
           |
           = note: this catalog can name `node-gpus`, `node-resources`, `node-taints`, `node-labels`, `node-name`, `node-ports`, `node-disks`, `node-features`, `node-images`, `node-info` and `node-index`
        help: did you mean `node-labels`?
           |
        10 - columns = ["node-gpus", "node-lables", "node-index"]
        10 + columns = ["node-gpus", "node-labels", "node-index"]
           |

        error: 1 error in ROOT/my-plugins/schedc.toml
    "#]]);
}

#[test]
fn a_profile_that_cannot_be_read_does_not_hide_others() {
    let project = Project::new("unreadable");
    let wrong = project.write("app/profiles/wrong.toml", "percentage-of-nodes-to-score = -1\n");
    let missing = project.root.join("app/profiles/missing.toml");
    project.check(
        &[missing, wrong],
        expect![[r#"
        error: cannot read ROOT/app/profiles/missing.toml: No such file or directory (os error 2)

        error: percentage-of-nodes-to-score must be in 0..=100, not -1
         --> profiles/wrong.toml:1:32
          |
        1 | percentage-of-nodes-to-score = -1
          |                                ^^ out of range
          |
          = note: 100 evaluates all nodes, 0 chooses the percentage by the size of the cluster, as kube-scheduler does

        error: 2 errors in profiles/wrong.toml
    "#]],
    );
}

#[test]
fn all_profiles_of_the_folder_are_picked_by_default() {
    let project = Project::new("pick_all");
    let b = project.write("profiles/b.toml", "");
    let a = project.write("profiles/a.toml", "");
    project.write("profiles/README.md", "");
    let folder = project.root.join("profiles");
    let selection = select(&folder, None).unwrap();
    assert_eq!(selection.profiles, [a, b]);
    assert_eq!(selection.watched, std::slice::from_ref(&folder), "a new profile requires a build");
    assert_eq!(select(&folder, Some(" ")).unwrap(), selection);
}

#[test]
fn profiles_are_picked_by_name_or_path() {
    let project = Project::new("pick_some");
    let a = project.write("profiles/a.toml", "");
    let b = project.write("profiles/b.toml", "");
    let elsewhere = project.write("elsewhere/c.toml", "");
    let folder = project.root.join("profiles");
    let picked = format!("b, {},a,b", elsewhere.display());
    assert_eq!(select(&folder, Some(&picked)).unwrap().profiles, [b, elsewhere, a]);
}

#[test]
fn the_path_of_a_folder_picks_all_profiles_in_it() {
    let project = Project::new("pick_folder");
    let a = project.write("profiles/a.toml", "");
    let c = project.write("elsewhere/c.toml", "");
    let b = project.write("elsewhere/b.toml", "");
    let (folder, elsewhere) = (project.root.join("profiles"), project.root.join("elsewhere"));
    let selection = select(&folder, Some(&format!("a,{}", elsewhere.display()))).unwrap();
    assert_eq!(selection.profiles, [a, b, c]);
    assert_eq!(selection.watched, [elsewhere], "a new profile requires a build");
}

#[test]
fn selected_profiles_that_do_not_exist_are_errors() {
    let project = Project::new("pick_wrong");
    project.write("profiles/default.toml", "");
    project.write("profiles/edge.toml", "");
    let folder = project.root.join("profiles");
    let errors = select(&folder, Some("defualt,edge,gpu,other/x.toml")).unwrap_err();
    project.check_errors(
        &errors,
        expect![[r#"
        error: no profile is called `defualt`
         |
         = note: folder ROOT/profiles has `default` and `edge`
         = help: did you mean `default`?

        error: no profile is called `gpu`
         |
         = note: folder ROOT/profiles has `default` and `edge`
         = help: name a profile, or the path of a TOML file; SCHEDC_PROFILES takes several, separated by commas

        error: no profile is called `other/x.toml`
         |
         = note: folder ROOT/profiles has `default` and `edge`
         = help: name a profile, or the path of a TOML file; SCHEDC_PROFILES takes several, separated by commas

        error: 3 errors
    "#]],
    );
    project.check_errors(
        &select(&folder, Some(",")).unwrap_err(),
        expect![[r#"
        error: SCHEDC_PROFILES names no profile
         |
         = help: unset it to build all profiles, or name `default` or `edge`

        error: 1 error
    "#]],
    );
}

#[test]
fn a_folder_without_profiles_is_an_error() {
    let project = Project::new("pick_none");
    fs::create_dir_all(project.root.join("profiles")).unwrap();
    project.check_errors(
        &select(&project.root.join("profiles"), None).unwrap_err(),
        expect![[r#"
        error: there is no profile in folder ROOT/profiles
         |
         = help: put one there, for example `default.toml`; an empty file is kube-scheduler's default

        error: 1 error
    "#]],
    );
    project.check_errors(
        &select(&project.root.join("nowhere"), None).unwrap_err(),
        expect![[r#"
        error: cannot read ROOT/nowhere: No such file or directory (os error 2)

        error: 1 error
    "#]],
    );
}

#[test]
fn extenders_need_the_crate_that_calls_them() {
    let project = Project::new("extenders");
    let extender = "[[extender]]\nurl-prefix = \"http://localhost\"\nfilter-verb = \"filter\"\n";
    let profile = project.write("app/profiles/extended.toml", extender);
    project.check(
        &[profile],
        expect![[r#"
        error: extenders require the crate schedc-extender, which my-scheduler does not depend on
         --> profiles/extended.toml:1:1
          |
        1 | [[extender]]
          | ^^^^^^^^^^^^ would be called by schedc-extender
          |
          = help: add schedc-extender to [dependencies] in Cargo.toml

        error: 1 error in profiles/extended.toml
    "#]],
    );
}
