//! The values at the top of a profile.

use expect_test::expect;

use super::check;

#[test]
fn percentage_out_of_range() {
    check(
        r#"percentage-of-nodes-to-score = 101
"#,
        expect![[r#"
            error: percentage-of-nodes-to-score must be in 0..=100, not 101
             --> profiles/p.toml:1:32
              |
            1 | percentage-of-nodes-to-score = 101
              |                                ^^^ out of range
              |
              = note: 100 evaluates all nodes, 0 chooses the percentage by the size of the cluster, as kube-scheduler does

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn backoff_out_of_range() {
    check(
        r#"pod-initial-backoff-seconds = 0
pod-max-backoff-seconds = 10_000_000_000
"#,
        expect![[r#"
            error: pod-initial-backoff-seconds must be at least 1, not 0
             --> profiles/p.toml:1:31
              |
            1 | pod-initial-backoff-seconds = 0
              |                               ^ out of range

            error: pod-max-backoff-seconds must be at most 9223372036, not 10000000000
             --> profiles/p.toml:2:27
              |
            2 | pod-max-backoff-seconds = 10_000_000_000
              |                           ^^^^^^^^^^^^^^ out of range

            error: 2 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn maximum_backoff_below_the_initial_one() {
    check(
        r#"pod-initial-backoff-seconds = 30
pod-max-backoff-seconds = 20
"#,
        expect![[r#"
            error: pod-max-backoff-seconds (20) is less than pod-initial-backoff-seconds (30)
             --> profiles/p.toml:2:27
              |
            1 | pod-initial-backoff-seconds = 30
              |                               -- the first backoff
            2 | pod-max-backoff-seconds = 20
              |                           ^^ the longest backoff

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn initial_backoff_above_the_default_maximum() {
    check(
        r#"pod-initial-backoff-seconds = 30
"#,
        expect![[r#"
            error: pod-max-backoff-seconds (10) is less than pod-initial-backoff-seconds (30)
             --> profiles/p.toml:1:31
              |
            1 | pod-initial-backoff-seconds = 30
              |                               ^^ more than the default of the longest backoff
              |
              = help: set pod-max-backoff-seconds to 30 or more

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn budget_out_of_range() {
    check(
        r#"[budget]
nanoseconds-per-node = 0
bytes-per-node = 9223372036854775807
binary-size = -1
"#,
        expect![[r#"
            error: nanoseconds-per-node must be at least 1, not 0
             --> profiles/p.toml:2:24
              |
            2 | nanoseconds-per-node = 0
              |                        ^ out of range
              |
              = help: leave the key out if there is no limit

            error: binary-size must be at least 1, not -1
             --> profiles/p.toml:4:15
              |
            4 | binary-size = -1
              |               ^^ out of range
              |
              = help: leave the key out if there is no limit

            error: 2 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn budget_with_unknown_keys_and_values_of_the_wrong_kind() {
    check(
        r#"[budget]
nanosecond-per-node = 10
bytes-per-node = "1Ki"
binary-size = 1.5
"#,
        expect![[r#"
            error: unknown key `nanosecond-per-node`
             --> profiles/p.toml:2:1
              |
            2 | nanosecond-per-node = 10
              | ^^^^^^^^^^^^^^^^^^^ not a key of `budget`
              |
              = note: `budget` has `nanoseconds-per-node`, `instructions-per-decision`, `allocations-per-decision`, `bytes-per-node` and `binary-size`
            help: did you mean `nanoseconds-per-node`?
              |
            2 | nanoseconds-per-node = 10
              |           +

            error: `bytes-per-node` must be an integer, not a string
             --> profiles/p.toml:3:18
              |
            3 | bytes-per-node = "1Ki"
              |                  ^^^^^ expected an integer

            error: `binary-size` must be an integer, not a float
             --> profiles/p.toml:4:15
              |
            4 | binary-size = 1.5
              |               ^^^ expected an integer

            error: 3 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn budget_that_is_no_table() {
    check(
        "budget = 10\n",
        expect![[r#"
        error: `budget` must be a table, not an integer
         --> profiles/p.toml:1:10
          |
        1 | budget = 10
          |          ^^ expected a table

        error: 1 error in profiles/p.toml
    "#]],
    );
}

#[test]
fn empty_scheduler_name() {
    check(
        r#"scheduler-name = ""
"#,
        expect![[r#"
            error: scheduler-name must not be empty
             --> profiles/p.toml:1:18
              |
            1 | scheduler-name = ""
              |                  ^^ no pod can request this scheduler
              |
              = help: leave the key out to be `default-scheduler`

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn scheduler_name_that_no_pod_can_carry() {
    check(
        r#"scheduler-name = "My_Scheduler"
"#,
        expect![[r#"
            error: `My_Scheduler` cannot be the name of a scheduler
             --> profiles/p.toml:1:18
              |
            1 | scheduler-name = "My_Scheduler"
              |                  ^^^^^^^^^^^^^^ not a DNS subdomain
              |
              = note: at most 253 lower-case letters, digits, `-` and `.`; each part starts and ends with a letter or digit
            help: `my-scheduler` is valid
              |
            1 - scheduler-name = "My_Scheduler"
            1 + scheduler-name = "my-scheduler"
              |

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn scheduler_name_without_a_suggestion() {
    check(
        r#"scheduler-name = "größe!"
"#,
        expect![[r#"
            error: `größe!` cannot be the name of a scheduler
             --> profiles/p.toml:1:18
              |
            1 | scheduler-name = "größe!"
              |                  ^^^^^^^^ not a DNS subdomain
              |
              = note: at most 253 lower-case letters, digits, `-` and `.`; each part starts and ends with a letter or digit

            error: 1 error in profiles/p.toml
        "#]],
    );
}
