//! Expressions that would be too deep, too large or too slow.

use std::time::{Duration, Instant};

use schedc_cel::{MAX_LENGTH, Selector};

use crate::evaluate;

/// Time in which any expression has to end, also in a program without optimisation on a busy machine.
const BOUND: Duration = Duration::from_secs(20);

/// Returns the result within the time bound.
#[track_caller]
fn bounded(text: &str) -> Result<bool, String> {
    let start = Instant::now();
    let result = evaluate(text);
    assert!(start.elapsed() < BOUND, "{:?} for {}", start.elapsed(), &text[..text.len().min(200)]);
    result
}

#[track_caller]
fn ends(text: &str, message: &str) {
    match bounded(text) {
        Err(error) if error.contains(message) => {}
        other => panic!("expected {message}, found {other:?} for {}", &text[..text.len().min(200)]),
    }
}

/// Returns nested bindings: `v0` is `first`, each other variable is `next` of the one before, and the result is
/// `last` of the last variable.
fn nested(count: usize, first: &str, next: impl Fn(&str) -> String, last: impl Fn(&str) -> String) -> String {
    let mut text = format!("cel.bind(v0, {first}, ");
    for i in 1..count {
        text += &format!("cel.bind(v{i}, {}, ", next(&format!("v{}", i - 1)));
    }
    text + &last(&format!("v{}", count - 1)) + &")".repeat(count)
}

#[test]
fn length() {
    let padded = |length: usize| format!("true{}", " ".repeat(length - 4));
    assert!(Selector::compile(&padded(MAX_LENGTH)).is_ok());
    let error = Selector::compile(&padded(MAX_LENGTH + 1)).expect_err("too long");
    assert_eq!(error.to_string(), "expression has 10241 bytes; at most 10240 are allowed");
}

#[test]
fn nesting() {
    let parentheses = |count: usize| format!("{}true{}", "(".repeat(count), ")".repeat(count));
    assert_eq!(bounded(&parentheses(249)), Ok(true));
    ends(&parentheses(250), "expression recursion limit exceeded: 250");
    ends(&"(".repeat(MAX_LENGTH), "expression recursion limit exceeded");
    ends(&"[".repeat(MAX_LENGTH), "expression recursion limit exceeded");
    ends(&"{1:".repeat(MAX_LENGTH / 3), "expression recursion limit exceeded");
    let lists = |count: usize| format!("{}{}.size() == 1", "[".repeat(count), "]".repeat(count));
    ends(&lists(220), "expression is too complex to be type-checked");
    assert_eq!(bounded(&lists(100)), Ok(true));
    let sum = |count: usize| format!("0{} == {count}", " + 1".repeat(count));
    assert_eq!(bounded(&sum(250)), Ok(true));
    ends(&sum(400), "expression recursion limit exceeded");
    ends(&format!("device{}", ".a".repeat(4000)), "expression recursion limit exceeded");
    assert_eq!(bounded(&format!("{}true", "!".repeat(10_000))), Ok(true));
    assert_eq!(bounded(&format!("true{}", " && true".repeat(1_000))), Ok(true));
    assert_eq!(bounded(&format!("false{}", " || 1 / 0 == 1 || true".repeat(400))), Ok(true));
    let conditions = format!("{}true", "false ? false : ".repeat(240));
    assert_eq!(bounded(&conditions), Ok(true));
    let loops = |count: usize| {
        let open: String = (0..count).map(|i| format!("[1].all(x{i}, ")).collect();
        format!("{open}true{}", ")".repeat(count))
    };
    assert_eq!(bounded(&loops(100)), Ok(true));
    ends(&loops(240), "expression recursion limit exceeded");
}

#[test]
fn copies_of_macros() {
    let chain = |count: usize| format!("optional.of(1){}.hasValue()", ".optMap(x, x)".repeat(count));
    assert_eq!(bounded(&chain(8)), Ok(true));
    ends(&chain(40), "expression has more than 50000 operations");
}

#[test]
fn types_that_grow() {
    ends(&nested(60, "{1: 1}", |v| format!("[{{'a': [{v}], 'b': [{v}]}}]"), |v| format!("{v} == {v}")), "");
    ends(&nested(60, "[1]", |v| format!("{{{v}: {v}}}"), |v| format!("{v} == {v}")), "too complex to be type-checked");
}

#[test]
fn values_that_grow() {
    let limit = "run: operation cancelled: actual cost limit exceeded";
    // Long doubled lists are not copied, so only reading them costs.
    let doubled = |count: usize, last: fn(&str) -> String| nested(count, "[1, 2]", |v| format!("{v} + {v}"), last);
    assert_eq!(bounded(&doubled(40, |v| format!("{v}.size() > 1000000"))), Ok(true));
    assert_eq!(bounded(&doubled(40, |v| format!("{v}[1000000] == 1"))), Ok(true));
    ends(&doubled(40, |v| format!("{v} == {v}")), limit);
    ends(&doubled(40, |v| format!("{v}.all(x, x > 0)")), limit);
    ends(&doubled(40, |v| format!("{v}.filter(x, false).size() == 0")), limit);
    ends(&doubled(40, |v| format!("{v}.reverse().size() == 0")), limit);
    ends(&doubled(40, |v| format!("3 in {v}")), limit);
    ends(&doubled(40, |v| format!("{v}.max() == 3")), limit);
    ends(&doubled(40, |v| format!("sets.contains({v}, {v})")), limit);
    ends(&doubled(40, |v| format!("'%s'.format([{v}]) == ''")), limit);
    // The cost of comparing nested lists counts the outermost elements alone.
    let nests = |last: fn(&str) -> String| {
        nested(12, "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1]", |v| format!("[{}]", [v; 10].join(", ")), last)
    };
    ends(&nests(|v| format!("{v} == {v}")), limit);
    ends(&nests(|v| format!("dyn({v}).flatten(50).size() == 1")), limit);
    ends(&nests(|v| format!("'%s'.format([{v}]) == ''")), limit);
    // Text.
    let text = |last: fn(&str) -> String| nested(60, "'abcdefghij'", |v| format!("{v} + {v}"), last);
    ends(&text(|v| format!("{v} == ''")), limit);
    let replaced = nested(20, "'aaaaaaaaaa'", |v| format!("{v}.replace('a', {v})"), |v| format!("{v} == ''"));
    ends(&replaced, limit);
    let joined = nested(20, "'aaaaaaaaaa'", |v| format!("{v}.split('').join({v})"), |v| format!("{v} == ''"));
    ends(&joined, limit);
    let formatted = nested(
        20,
        "'aaaaaaaaaa'",
        |v| format!("'%s%s%s%s%s%s%s%s%s%s'.format([{}])", [v; 10].join(", ")),
        |v| format!("{v} == ''"),
    );
    ends(&formatted, limit);
}

#[test]
fn ranges() {
    let limit = "run: operation cancelled: actual cost limit exceeded";
    ends("lists.range(9223372036854775807).size() == 0", limit);
    ends("lists.range(1000000).size() == 0", limit);
    ends("lists.range(2000).map(a, lists.range(2000)).size() == 0", limit);
    ends("lists.range(2000).all(a, lists.range(2000).all(b, true))", limit);
    ends("lists.range(2000).transformMap(i, v, v).size() + lists.range(9000).distinct().size() == 0", limit);
    assert_eq!(bounded("lists.range(10000).map(x, x + 1).filter(x, x % 2 == 0).size() == 5000"), Ok(true));
    assert_eq!(bounded("lists.range(5000).transformMap(i, v, string(v)).size() == 5000"), Ok(true));
}

#[test]
fn regular_expressions() {
    ends("'a'.matches('((((x{1000}){1000}){1000}){1000})')", "invalid matches argument");
    ends("'a'.matches('(\\\\pL{1000}){100}')", "invalid matches argument");
    let limit = "run: operation cancelled: actual cost limit exceeded";
    ends("lists.range(1000).exists(i, 'a'.matches('b{1,30}' + string(i)))", limit);
    assert_eq!(bounded("!lists.range(1000).exists(i, 'a'.matches('b{1,30}' + string(i % 3)))"), Ok(true));
    let many: String = (0..200).map(|i| format!("'a'.matches('{i}') || ")).collect();
    ends(&format!("{many}true"), "more than 100 regular expressions");
}
