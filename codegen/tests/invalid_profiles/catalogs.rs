//! Search for catalogs of plugin crates, and conflicts between catalogs.

use expect_test::expect;

use super::{SORTS, check_with_crates};

#[test]
fn two_queue_sorts_of_which_one_is_the_default() {
    check_with_crates(
        r#"crates = ["sorts"]

[plugins]
queue-sort = { enabled = ["OldestFirst"] }
"#,
        &[("sorts", Some(SORTS))],
        expect![[r#"
            error: a profile has exactly one queue-sort plugin, not 2: `PrioritySort` and `OldestFirst`
             --> profiles/p.toml:4:27
              |
            4 | queue-sort = { enabled = ["OldestFirst"] }
              |                           ^^^^^^^^^^^^^ OldestFirst sorts the queue
              |
              = note: PrioritySort is enabled by default
              = help: a plain list replaces the default: `queue-sort = [".."]`

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn two_queue_sorts_both_named() {
    check_with_crates(
        r#"crates = ["sorts"]

[plugins]
queue-sort = ["PrioritySort", "OldestFirst"]
"#,
        &[("sorts", Some(SORTS))],
        expect![[r#"
            error: a profile has exactly one queue-sort plugin, not 2: `PrioritySort` and `OldestFirst`
             --> profiles/p.toml:4:31
              |
            4 | queue-sort = ["PrioritySort", "OldestFirst"]
              |               --------------  ^^^^^^^^^^^^^ OldestFirst sorts the queue
              |               |
              |               PrioritySort sorts the queue, too
              |
              = help: keep one of them

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_crate_that_is_no_dependency() {
    check_with_crates(
        r#"crates = ["sort", "gpu-share"]

[plugins]
queue-sort = ["OldestFirst"]
"#,
        &[("sorts", Some(SORTS))],
        expect![[r#"
            error: `sort` is not a dependency of my-scheduler
             --> profiles/p.toml:1:11
              |
            1 | crates = ["sort", "gpu-share"]
              |           ^^^^^^ expected a package under `[dependencies]` in the Cargo.toml of my-scheduler
              |
            help: did you mean `sorts`?
              |
            1 | crates = ["sorts", "gpu-share"]
              |                +

            error: `gpu-share` is not a dependency of my-scheduler
             --> profiles/p.toml:1:19
              |
            1 | crates = ["sort", "gpu-share"]
              |                   ^^^^^^^^^^^ expected a package under `[dependencies]` in the Cargo.toml of my-scheduler
              |
              = help: run `cargo add gpu-share`, or name its folder: `{ path = ".." }`

            error: 2 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_crate_without_a_catalog() {
    check_with_crates(
        r#"crates = ["serde"]
"#,
        &[("serde", None)],
        expect![[r#"
            error: crate `serde` has no schedc.toml
             --> profiles/p.toml:1:11
              |
            1 | crates = ["serde"]
              |           ^^^^^^^ no catalog of plugins
              |
              = note: looked for serde/schedc.toml

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_folder_without_a_catalog() {
    check_with_crates(
        r#"crates = [{ path = "../other" }]
"#,
        &[("../other", None)],
        expect![[r#"
            error: crate `../other` has no schedc.toml
             --> profiles/p.toml:1:20
              |
            1 | crates = [{ path = "../other" }]
              |                    ^^^^^^^^^^ no catalog of plugins
              |
              = note: looked for ../other/schedc.toml

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_crate_that_is_named_twice() {
    check_with_crates(
        r#"crates = ["sorts", "sorts"]
"#,
        &[("sorts", Some(SORTS))],
        expect![[r#"
            error: crate `sorts` is named twice
             --> profiles/p.toml:1:20
              |
            1 | crates = ["sorts", "sorts"]
              |           -------  ^^^^^^^ second
              |           |
              |           first

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn crates_that_are_neither_names_nor_paths() {
    check_with_crates(
        r#"crates = [{ git = "https://example.com" }, 3]

[plugins]
queue-sort = ["OldestFirst"]
"#,
        &[],
        expect![[r#"
            error: a crate needs `path`
             --> profiles/p.toml:1:11
              |
            1 | crates = [{ git = "https://example.com" }, 3]
              |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `path` is missing

            error: unknown key `git`
             --> profiles/p.toml:1:13
              |
            1 | crates = [{ git = "https://example.com" }, 3]
              |             ^^^ not a key of a crate
              |
              = note: a crate has `path`

            error: an element of `crates` must be a name or `{ path = ".." }`, not an integer
             --> profiles/p.toml:1:44
              |
            1 | crates = [{ git = "https://example.com" }, 3]
              |                                            ^ expected a name or `{ path = ".." }`

            error: 3 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_name_that_the_in_tree_plugins_use() {
    check_with_crates(
        r#"crates = ["mine"]
"#,
        &[(
            "mine",
            Some(
                r#"crate = "mine"

[[plugin]]
name = "NodeName"
path = "mine::NodeName"
points = ["filter"]
"#,
            ),
        )],
        expect![[r#"
            error: two crates have a plugin `NodeName`: schedc_plugins and mine
              --> mine/schedc.toml:4:8
               |
             4 | name = "NodeName"
               |        ^^^^^^^^^^ in mine
               |
              ::: codegen/catalog/in-tree.toml:81:8
               |
            81 | name = "NodeName"
               |        ---------- in schedc_plugins
               |
               = note: a profile names plugins without their crate
               = help: give one of them another name

            error: 1 error in mine/schedc.toml
        "#]],
    );
}

#[test]
fn a_name_that_another_crate_uses() {
    check_with_crates(
        r#"crates = ["sorts", "more-sorts"]
"#,
        &[
            ("sorts", Some(SORTS)),
            (
                "more-sorts",
                Some(
                    r#"crate = "more_sorts"

[[plugin]]
name = "OldestFirst"
path = "more_sorts::Oldest"
points = ["queue-sort"]
"#,
                ),
            ),
        ],
        expect![[r#"
            error: two crates have a plugin `OldestFirst`: sorts and more_sorts
             --> more-sorts/schedc.toml:4:8
              |
            4 | name = "OldestFirst"
              |        ^^^^^^^^^^^^^ in more_sorts
              |
             ::: sorts/schedc.toml:4:8
              |
            4 | name = "OldestFirst"
              |        ------------- in sorts
              |
              = note: a profile names plugins without their crate
              = help: give one of them another name

            error: 1 error in more-sorts/schedc.toml
        "#]],
    );
}
