//! Profiles of one scheduler.

use expect_test::expect;

use super::{check_together, check_together_with_sorts};

#[test]
fn one_scheduler_name_twice() {
    check_together(
        &[("profiles/a.toml", "scheduler-name = \"edge\"\n"), ("profiles/b.toml", "scheduler-name = \"edge\"\n")],
        expect![[r#"
            error: profiles/a.toml and profiles/b.toml have the same scheduler-name `edge`
             --> profiles/b.toml:1:18
              |
            1 | scheduler-name = "edge"
              |                  ^^^^^^ same name
              |
             ::: profiles/a.toml:1:18
              |
            1 | scheduler-name = "edge"
              |                  ------ first used here
              |
              = note: a pod that requests `edge` must get exactly one profile
              = help: give profiles/b.toml another scheduler-name

            error: 1 error in profiles/b.toml
        "#]],
    );
}

#[test]
fn the_default_scheduler_name_twice() {
    check_together(
        &[("profiles/a.toml", "percentage-of-nodes-to-score = 50\n"), ("profiles/b.toml", "# empty\n")],
        expect![[r#"
            error: profiles/a.toml and profiles/b.toml have the same scheduler-name `default-scheduler`
             --> profiles/b.toml:1:1
              |
            1 | # empty
              | ^ same name
              |
             ::: profiles/a.toml:1:1
              |
            1 | percentage-of-nodes-to-score = 50
              | - first used here
              |
              = note: a pod that requests `default-scheduler` must get exactly one profile
              = help: give profiles/b.toml another scheduler-name

            error: 1 error in profiles/b.toml
        "#]],
    );
}

#[test]
fn one_module_twice() {
    check_together(
        &[
            ("profiles/bin-packing.toml", "scheduler-name = \"a\"\n"),
            ("profiles/bin_packing.toml", "scheduler-name = \"b\"\n"),
        ],
        expect![[r#"
            error: profiles/bin-packing.toml and profiles/bin_packing.toml would both become the Rust module `bin_packing`
             --> profiles/bin_packing.toml:1:1
              |
            1 | scheduler-name = "b"
              | ^ same module
              |
             ::: profiles/bin-packing.toml:1:1
              |
            1 | scheduler-name = "a"
              | - first
              |
              = help: rename one of the two files

            error: 1 error in profiles/bin_packing.toml
        "#]],
    );
}

#[test]
fn different_backoffs() {
    check_together(
        &[
            ("profiles/a.toml", "scheduler-name = \"a\"\npod-max-backoff-seconds = 30\n"),
            ("profiles/b.toml", "scheduler-name = \"b\"\npod-initial-backoff-seconds = 2\n"),
        ],
        expect![[r#"
            error: profiles/a.toml and profiles/b.toml differ in pod-max-backoff-seconds: 30 and 10
             --> profiles/b.toml:1:1
              |
            1 | scheduler-name = "b"
              | ^ 10 s by default
              |
             ::: profiles/a.toml:2:27
              |
            2 | pod-max-backoff-seconds = 30
              |                           -- 30 s
              |
              = note: profiles of one scheduler share one queue

            error: profiles/a.toml and profiles/b.toml differ in pod-initial-backoff-seconds: 1 and 2
             --> profiles/b.toml:2:31
              |
            2 | pod-initial-backoff-seconds = 2
              |                               ^ 2 s
              |
             ::: profiles/a.toml:1:1
              |
            1 | scheduler-name = "a"
              | - 1 s by default
              |
              = note: profiles of one scheduler share one queue

            error: 2 errors in profiles/b.toml
        "#]],
    );
}

#[test]
fn errors_of_all_files_are_shown() {
    check_together(
        &[
            ("profiles/a.toml", "scheduler-name = \"\"\n"),
            ("profiles/b.toml", "scheduler-name = b\n"),
            ("profiles/c.toml", "percentage-of-nodes-to-score = 200\n"),
        ],
        expect![[r#"
            error: scheduler-name must not be empty
             --> profiles/a.toml:1:18
              |
            1 | scheduler-name = ""
              |                  ^^ no pod can request this scheduler
              |
              = help: leave the key out to be `default-scheduler`

            error: a string is written in quotes, `b` is not
             --> profiles/b.toml:1:18
              |
            1 | scheduler-name = b
              |                  ^ not a value
              |
            help: put it in quotes
              |
            1 - scheduler-name = b
            1 + scheduler-name = "b"
              |

            error: percentage-of-nodes-to-score must be in 0..=100, not 200
             --> profiles/c.toml:1:32
              |
            1 | percentage-of-nodes-to-score = 200
              |                                ^^^ out of range
              |
              = note: 100 evaluates all nodes, 0 chooses the percentage by the size of the cluster, as kube-scheduler does

            error: 3 errors in profiles/a.toml, profiles/b.toml and profiles/c.toml
        "#]],
    );
}

#[test]
fn invalid_profiles_are_not_compared() {
    check_together(
        &[
            ("profiles/a.toml", "scheduler-name = \"a\"\npod-initial-backoff-seconds = 0\n"),
            ("profiles/b.toml", "scheduler-name = \"b\"\npod-initial-backoff-seconds = 2\n"),
        ],
        expect![[r#"
            error: pod-initial-backoff-seconds must be at least 1, not 0
             --> profiles/a.toml:2:31
              |
            2 | pod-initial-backoff-seconds = 0
              |                               ^ out of range

            error: 1 error in profiles/a.toml
        "#]],
    );
}

#[test]
fn different_queue_sorts() {
    check_together_with_sorts(
        &[
            ("profiles/a.toml", "scheduler-name = \"a\"\n"),
            (
                "profiles/b.toml",
                "scheduler-name = \"b\"\ncrates = [\"sorts\"]\n[plugins]\nqueue-sort = [\"OldestFirst\"]\n",
            ),
        ],
        expect![[r#"
            error: profiles/a.toml and profiles/b.toml sort the queue differently: PrioritySort and OldestFirst
             --> profiles/b.toml:4:15
              |
            4 | queue-sort = ["OldestFirst"]
              |               ^^^^^^^^^^^^^ sorts by OldestFirst
              |
             ::: profiles/a.toml:1:1
              |
            1 | scheduler-name = "a"
              | - sorts by PrioritySort
              |
              = note: profiles of one scheduler share one queue
              = help: use one queue-sort plugin with the same arguments in both, or build two schedulers

            error: 1 error in profiles/b.toml
        "#]],
    );
}

#[test]
fn different_arguments_of_the_queue_sort() {
    let sorted = "crates = [\"sorts\"]\nplugins.queue-sort = [\"OldestFirst\"]\n";
    let a = format!("scheduler-name = \"a\"\n{sorted}[args.OldestFirst]\nx = 1\ny = 2\n");
    let b = format!("scheduler-name = \"b\"\n{sorted}[args.OldestFirst]\ny = 2\nx = 1\n");
    let c = format!("scheduler-name = \"c\"\n{sorted}[args.OldestFirst]\nx = 1\ny = 3\n");
    check_together_with_sorts(
        &[("profiles/a.toml", &a), ("profiles/b.toml", &b), ("profiles/c.toml", &c)],
        expect![[r#"
            error: profiles/a.toml and profiles/c.toml sort the queue by different arguments of OldestFirst
             --> profiles/c.toml:4:1
              |
            4 | [args.OldestFirst]
              | ^^^^^^^^^^^^^^^^^^ sorts by OldestFirst
              |
             ::: profiles/a.toml:4:1
              |
            4 | [args.OldestFirst]
              | ------------------ sorts by OldestFirst
              |
              = note: profiles of one scheduler share one queue
              = help: use one queue-sort plugin with the same arguments in both, or build two schedulers

            error: 1 error in profiles/c.toml
        "#]],
    );
}
