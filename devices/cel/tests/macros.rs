//! Macros: comprehensions, bindings and optional values.

use crate::{all_fail, all_false, all_true};

#[test]
fn quantifiers() {
    all_true(
        r#"
        [1, 2, 3].all(x, x > 0) && [].all(x, x > 0) && {"a": 1}.all(k, k == "a")
        [1, 2, 3].exists(x, x > 2) && {"a": 1, "b": 2}.exists(k, k == "b")
        [1, 2, 3].exists_one(x, x > 2) && [1, 2, 3].existsOne(x, x == 1)
        [1, 0].exists(x, 1 / x == 1) && [0, 1].exists(x, 1 / x == 1)
        ![1, 0].all(x, 1 / x == 2) && ![0, 1].all(x, 1 / x == 2)
        [[1], [2, 3]].all(l, l.exists(x, x < 3))
        "#,
    );
    all_false(
        r#"
        [1, 2, 3].all(x, x > 1)
        [].exists(x, true)
        [1, 2, 3].exists_one(x, x > 1)
        "#,
    );
    all_fail(&[
        ("[1, 0].all(x, 1 / x > 0)", "run: division by zero"),
        ("[0].exists(x, 1 / x == 1)", "run: division by zero"),
        ("[0, 1].exists_one(x, 1 / x == 1)", "run: division by zero"),
        ("[1].all(x.y, true)", "argument must be a simple name"),
        ("[1].all(x, 1)", "expected type 'bool' but found 'int'"),
        ("1.all(x, true)", "cannot be range of a comprehension"),
        ("[1].all(__result__, true)", "iteration variable overwrites accumulator variable"),
    ]);
}

#[test]
fn lists_from_lists() {
    all_true(
        r#"
        [1, 2, 3].map(x, x * 2) == [2, 4, 6] && [1, 2, 3].map(x, x > 1, x * 2) == [4, 6]
        [1, 2, 3].filter(x, x > 1) == [2, 3] && [].map(x, x) == []
        {"a": 1, "b": 2}.map(k, k) == ["a", "b"] && {"a": 1, "b": 2}.filter(k, k != "a") == ["b"]
        [1, 2].map(x, [3, 4].map(y, x * y)) == [[3, 4], [6, 8]]
        [1, 2].map(x, x).map(x, x + 1).filter(x, x > 2) == [3]
        "#,
    );
    all_fail(&[("[0].map(x, 1 / x) == [1]", "run: division by zero")]);
}

#[test]
fn two_variables() {
    all_true(
        r#"
        [10, 20].all(i, v, i * 10 + 10 == v) && {"a": 1}.all(k, v, k == "a" && v == 1)
        [10, 20].exists(i, v, i == 1 && v == 20) && {"a": 1}.existsOne(k, v, v == 1)
        [1, 2].transformList(i, v, i + v) == [1, 3] && [1, 2].transformList(i, v, i > 0, v) == [2]
        {"a": 1}.transformList(k, v, k + string(v)) == ["a1"]
        {"a": 1, "b": 2}.transformMap(k, v, v + 1) == {"a": 2, "b": 3}
        {"a": 1, "b": 2}.transformMap(k, v, v > 1, v) == {"b": 2}
        ["x", "y"].transformMap(i, v, v) == {0: "x", 1: "y"}
        {"a": "x"}.transformMapEntry(k, v, {v: k}) == {"x": "a"}
        [1, 2].transformMapEntry(i, v, v > 1, {v: i}) == {2: 1}
        "#,
    );
    all_fail(&[
        ("[1, 1].transformMapEntry(i, v, {v: i}).size() == 1", "run: insert failed: key 1 already exists"),
        ("[1].all(i, i, true)", "duplicate variable name: i"),
    ]);
}

#[test]
fn bindings() {
    all_true(
        r#"
        cel.bind(x, 1, x + x == 2)
        cel.bind(x, 1, cel.bind(y, x + 1, y + x == 3))
        cel.bind(x, [1, 2], x.map(y, y + x.size())) == [3, 4]
        cel.bind(unused, 1 / 0, true)
        cel.bind(x, 1 / 0, x == 1 || true)
        [1, 2].map(x, cel.bind(y, x * 2, y + x)) == [3, 6]
        cel.bind(a, [1, 2].map(x, x), cel.bind(b, a.map(x, x + 1), a + b)) == [1, 2, 2, 3]
        "#,
    );
    all_fail(&[
        ("cel.bind(x, 1 / 0, x == 1)", "run: division by zero"),
        ("cel.bind(x.y, 1, true)", "cel.bind() variable names must be simple identifiers"),
    ]);
}

#[test]
fn optionals() {
    all_true(
        r#"
        optional.of(1).hasValue() && !optional.none().hasValue() && optional.of(1).value() == 1
        optional.none().orValue(2) == 2 && optional.of(1).orValue(2) == 1
        optional.none().or(optional.of(3)).value() == 3 && optional.of(1).or(optional.of(3)).value() == 1
        !optional.ofNonZeroValue(0).hasValue() && optional.ofNonZeroValue("a").value() == "a"
        {"a": 1}.?a.value() == 1 && !{"a": 1}.?b.hasValue() && {"a": 1}.?b.orValue(5) == 5
        {"a": 1}[?"a"].value() == 1 && [1, 2][?1].value() == 2 && !([1, 2][?5].hasValue())
        {"a": {"b": 2}}.?a.b.value() == 2 && !{"a": {"b": 2}}.?c.b.hasValue() && !{"a": {"b": 2}}.?a.c.hasValue()
        {"a": {"b": 2}}.?a.?b.orValue(0) == 2 && {"a": {"b": 2}}[?"a"]["b"].orValue(0) == 2
        has({"a": {"b": 1}}.?a.b) && !has({"a": {"b": 1}}.?x.b)
        [?optional.of(1), ?optional.none(), 2] == [1, 2]
        {?"a": optional.of(1), ?"b": optional.none()} == {"a": 1}
        optional.of(2).optMap(x, x * 2).value() == 4 && !optional.none().optMap(x, x).hasValue()
        optional.of(2).optFlatMap(x, optional.of(x + 1)).value() == 3
        optional.of(1) == optional.of(1) && optional.none() == optional.none() && optional.of(1) != optional.none()
        [1, 2].first().value() == 1 && [1, 2].last().value() == 2 && ![].first().hasValue()
        optional.unwrap([optional.of(1), optional.none()]) == [1] && [optional.of(2)].unwrapOpt() == [2]
        "#,
    );
    all_fail(&[
        ("optional.none().value() == 1", "run: optional.none() dereference"),
        ("optional.of(1) == 1", "found no matching overload for '_==_'"),
    ]);
}
