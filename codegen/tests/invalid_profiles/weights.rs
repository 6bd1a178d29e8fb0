//! Weights: valid positions and values.

use expect_test::expect;

use super::check;

#[test]
fn a_weight_of_zero() {
    check(
        r#"[plugins]
score = [{ name = "ImageLocality", weight = 0 }]
"#,
        expect![[r#"
            error: the weight of `ImageLocality` must be at least 1, not 0
             --> profiles/p.toml:2:45
              |
            2 | score = [{ name = "ImageLocality", weight = 0 }]
              |                                             ^ must be at least 1
              |
              = help: to leave `ImageLocality` out, disable it at `score`

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_negative_weight() {
    check(
        r#"[plugins]
multi-point = { enabled = [{ name = "NodeAffinity", weight = -2 }] }
"#,
        expect![[r#"
            error: the weight of `NodeAffinity` must be at least 1, not -2
             --> profiles/p.toml:2:62
              |
            2 | multi-point = { enabled = [{ name = "NodeAffinity", weight = -2 }] }
              |                                                              ^^ must be at least 1

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_weight_at_another_point_than_score() {
    check(
        r#"[plugins]
filter = [{ name = "TaintToleration", weight = 3 }, { name = "NodeName", weight = 2 }]
"#,
        expect![[r#"
            error: `TaintToleration` has no weight at `filter`
             --> profiles/p.toml:2:48
              |
            2 | filter = [{ name = "TaintToleration", weight = 3 }, { name = "NodeName", weight = 2 }]
              |                                                ^ no effect here
              |
              = help: give `TaintToleration` its weight at `score` or `multi-point`

            error: `NodeName` has no weight at `filter`
             --> profiles/p.toml:2:83
              |
            2 | filter = [{ name = "TaintToleration", weight = 3 }, { name = "NodeName", weight = 2 }]
              |                                                                                   ^ no effect here
              |
              = note: weights are for plugins at `score`
              = help: remove the weight

            error: 2 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_weight_of_a_plugin_that_does_not_score() {
    check(
        r#"[plugins]
multi-point = { enabled = [{ name = "NodePorts", weight = 2 }] }
"#,
        expect![[r#"
            error: `NodePorts` has no weight: it does not score
             --> profiles/p.toml:2:59
              |
            2 | multi-point = { enabled = [{ name = "NodePorts", weight = 2 }] }
              |                                                           ^ no effect
              |
              = note: NodePorts runs at `pre-filter` and `filter`
              = help: remove the weight

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn weights_whose_sum_is_too_large() {
    check(
        r#"[plugins]
score = [
    { name = "NodeAffinity", weight = 46_116_860_184_273_880 },
    { name = "TaintToleration", weight = 2 },
    { name = "ImageLocality", weight = 46_116_860_184_273_879 },
]
"#,
        expect![[r#"
            error: the weighted sum of scores could overflow
             --> profiles/p.toml:3:39
              |
            3 |     { name = "NodeAffinity", weight = 46_116_860_184_273_880 },
              |                                       ^^^^^^^^^^^^^^^^^^^^^^ weight of `NodeAffinity`
            4 |     { name = "TaintToleration", weight = 2 },
            5 |     { name = "ImageLocality", weight = 46_116_860_184_273_879 },
              |                                        ---------------------- weight of `ImageLocality`
              |
              = note: 100 times the sum of all weights must fit a signed 64-bit integer
              = help: only the proportions of weights matter: use smaller ones

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_weight_beyond_64_bits() {
    check(
        r#"[plugins]
score = [{ name = "ImageLocality", weight = 99999999999999999999 }]
"#,
        expect![[r#"
            error: the weighted sum of scores could overflow
             --> profiles/p.toml:2:45
              |
            2 | score = [{ name = "ImageLocality", weight = 99999999999999999999 }]
              |                                             ^^^^^^^^^^^^^^^^^^^^ weight of `ImageLocality`
              |
              = note: 100 times the sum of all weights must fit a signed 64-bit integer
              = help: only the proportions of weights matter: use smaller ones

            error: 1 error in profiles/p.toml
        "#]],
    );
}
