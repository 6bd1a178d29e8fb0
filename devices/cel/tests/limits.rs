//! Expressions that would be too deep, too large or too slow.

use std::time::{Duration, Instant};

use schedc_cel::{MAX_LENGTH, Selector};

use crate::evaluate;

/// Time in which any expression has to end, also in a program without optimisation on a busy machine.
const BOUND: Duration = Duration::from_secs(20);

/// Returns the result within the time bound.
#[track_caller]
fn evaluate_in_time(text: &str) -> Result<bool, String> {
    let start = Instant::now();
    let result = evaluate(text);
    assert!(start.elapsed() < BOUND, "{:?} for {}", start.elapsed(), &text[..text.len().min(200)]);
    result
}

/// Checks that an expression fails within the time bound, with a message that contains the text.
#[track_caller]
fn fails_in_time(text: &str, message: &str) {
    match evaluate_in_time(text) {
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
    assert_eq!(evaluate_in_time(&parentheses(249)), Ok(true));
    fails_in_time(&parentheses(250), "expression recursion limit exceeded: 250");
    fails_in_time(&"(".repeat(MAX_LENGTH), "expression recursion limit exceeded");
    fails_in_time(&"[".repeat(MAX_LENGTH), "expression recursion limit exceeded");
    fails_in_time(&"{1:".repeat(MAX_LENGTH / 3), "expression recursion limit exceeded");
    let lists = |count: usize| format!("{}{}.size() == 1", "[".repeat(count), "]".repeat(count));
    fails_in_time(&lists(220), "expression is too complex to be type-checked");
    assert_eq!(evaluate_in_time(&lists(100)), Ok(true));
    let sum = |count: usize| format!("0{} == {count}", " + 1".repeat(count));
    assert_eq!(evaluate_in_time(&sum(250)), Ok(true));
    fails_in_time(&sum(400), "expression recursion limit exceeded");
    fails_in_time(&format!("device{}", ".a".repeat(4000)), "expression recursion limit exceeded");
    assert_eq!(evaluate_in_time(&format!("{}true", "!".repeat(10_000))), Ok(true));
    assert_eq!(evaluate_in_time(&format!("true{}", " && true".repeat(1_000))), Ok(true));
    assert_eq!(evaluate_in_time(&format!("false{}", " || 1 / 0 == 1 || true".repeat(400))), Ok(true));
    let conditions = format!("{}true", "false ? false : ".repeat(240));
    assert_eq!(evaluate_in_time(&conditions), Ok(true));
    let loops = |count: usize| {
        let open: String = (0..count).map(|i| format!("[1].all(x{i}, ")).collect();
        format!("{open}true{}", ")".repeat(count))
    };
    assert_eq!(evaluate_in_time(&loops(100)), Ok(true));
    fails_in_time(&loops(240), "expression recursion limit exceeded");
}

#[test]
fn macros_that_copy_their_target_have_a_node_limit() {
    let chain = |count: usize| format!("optional.of(1){}.hasValue()", ".optMap(x, x)".repeat(count));
    assert_eq!(evaluate_in_time(&chain(8)), Ok(true));
    fails_in_time(&chain(40), "expression has more than 50000 operations");
}

#[test]
fn growing_types_are_rejected() {
    fails_in_time(&nested(60, "{1: 1}", |v| format!("[{{'a': [{v}], 'b': [{v}]}}]"), |v| format!("{v} == {v}")), "");
    fails_in_time(
        &nested(60, "[1]", |v| format!("{{{v}: {v}}}"), |v| format!("{v} == {v}")),
        "too complex to be type-checked",
    );
}

#[test]
fn growing_values_exceed_the_limit_of_cost_or_work() {
    let limit = "run: operation cancelled: actual cost limit exceeded";
    // Concatenation does not copy long lists, so only reading their elements costs.
    let doubled = |count: usize, last: fn(&str) -> String| nested(count, "[1, 2]", |v| format!("{v} + {v}"), last);
    assert_eq!(evaluate_in_time(&doubled(40, |v| format!("{v}.size() > 1000000"))), Ok(true));
    assert_eq!(evaluate_in_time(&doubled(40, |v| format!("{v}[1000000] == 1"))), Ok(true));
    fails_in_time(&doubled(40, |v| format!("{v} == {v}")), limit);
    fails_in_time(&doubled(40, |v| format!("{v}.all(x, x > 0)")), limit);
    fails_in_time(&doubled(40, |v| format!("{v}.filter(x, false).size() == 0")), limit);
    fails_in_time(&doubled(40, |v| format!("{v}.reverse().size() == 0")), limit);
    fails_in_time(&doubled(40, |v| format!("3 in {v}")), limit);
    fails_in_time(&doubled(40, |v| format!("{v}.max() == 3")), limit);
    fails_in_time(&doubled(40, |v| format!("sets.contains({v}, {v})")), limit);
    fails_in_time(&doubled(40, |v| format!("'%s'.format([{v}]) == ''")), limit);
    // In CEL's costs, a comparison of nested lists counts only the outermost elements. The limit of work ends such a
    // comparison.
    let nests = |last: fn(&str) -> String| {
        nested(12, "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1]", |v| format!("[{}]", [v; 10].join(", ")), last)
    };
    fails_in_time(&nests(|v| format!("{v} == {v}")), limit);
    fails_in_time(&nests(|v| format!("dyn({v}).flatten(50).size() == 1")), limit);
    fails_in_time(&nests(|v| format!("'%s'.format([{v}]) == ''")), limit);
    let text = |last: fn(&str) -> String| nested(60, "'abcdefghij'", |v| format!("{v} + {v}"), last);
    fails_in_time(&text(|v| format!("{v} == ''")), limit);
    let replaced = nested(20, "'aaaaaaaaaa'", |v| format!("{v}.replace('a', {v})"), |v| format!("{v} == ''"));
    fails_in_time(&replaced, limit);
    let joined = nested(20, "'aaaaaaaaaa'", |v| format!("{v}.split('').join({v})"), |v| format!("{v} == ''"));
    fails_in_time(&joined, limit);
    let formatted = nested(
        20,
        "'aaaaaaaaaa'",
        |v| format!("'%s%s%s%s%s%s%s%s%s%s'.format([{}])", [v; 10].join(", ")),
        |v| format!("{v} == ''"),
    );
    fails_in_time(&formatted, limit);
}

#[test]
fn long_ranges_exceed_the_limit() {
    let limit = "run: operation cancelled: actual cost limit exceeded";
    fails_in_time("lists.range(9223372036854775807).size() == 0", limit);
    fails_in_time("lists.range(1000000).size() == 0", limit);
    fails_in_time("lists.range(2000).map(a, lists.range(2000)).size() == 0", limit);
    fails_in_time("lists.range(2000).all(a, lists.range(2000).all(b, true))", limit);
    fails_in_time("lists.range(2000).transformMap(i, v, v).size() + lists.range(9000).distinct().size() == 0", limit);
    assert_eq!(evaluate_in_time("lists.range(10000).map(x, x + 1).filter(x, x % 2 == 0).size() == 5000"), Ok(true));
    assert_eq!(evaluate_in_time("lists.range(5000).transformMap(i, v, string(v)).size() == 5000"), Ok(true));
}

#[test]
fn regular_expressions() {
    fails_in_time("'a'.matches('((((x{1000}){1000}){1000}){1000})')", "invalid matches argument");
    fails_in_time("'a'.matches('(\\\\pL{1000}){100}')", "invalid matches argument");
    let limit = "run: operation cancelled: actual cost limit exceeded";
    fails_in_time("lists.range(1000).exists(i, 'a'.matches('b{1,30}' + string(i)))", limit);
    assert_eq!(evaluate_in_time("!lists.range(1000).exists(i, 'a'.matches('b{1,30}' + string(i % 3)))"), Ok(true));
    let many: String = (0..200).map(|i| format!("'a'.matches('{i}') || ")).collect();
    fails_in_time(&format!("{many}true"), "more than 100 regular expressions");
}
