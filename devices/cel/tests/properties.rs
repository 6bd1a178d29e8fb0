//! Properties of all expressions: none can panic, hang or exceed the cost limit.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use schedc_cel::{MAX_COST, Selector};

use crate::gpu;

/// Time in which any expression has to end, also in a program without optimisation on a busy machine.
const BOUND: Duration = Duration::from_secs(20);

/// Compiles and evaluates an expression. Returns a message if it takes too long, costs too much, or has different
/// results for the table and for the device.
fn violation(text: &str) -> Option<String> {
    let start = Instant::now();
    let devices = gpu();
    let mut cost = 0;
    if let Ok(selector) = Selector::compile(text) {
        let column = selector.evaluate(&devices);
        let single = selector.bind(&devices).evaluated(0);
        cost = single.as_ref().map_or(0, |(_, cost)| *cost);
        let agrees = (column.matches()[0] == 1) == single.as_ref().is_ok_and(|(result, _)| *result)
            && (column.failures()[0] == 1) == single.is_err();
        if !agrees {
            return Some(format!("{text}: table and device differ"));
        }
    }
    (cost > MAX_COST || start.elapsed() > BOUND).then(|| format!("{text}: cost {cost}, {:?}", start.elapsed()))
}

/// Returns a strategy for expressions of the type with the name `ty`.
fn expression(ty: &'static str, depth: u32) -> BoxedStrategy<String> {
    let leaf = leaf(ty);
    if depth == 0 {
        return leaf.boxed();
    }
    let e = move |ty| expression(ty, depth - 1);
    let condition = (e("bool"), e(ty), e(ty)).prop_map(|(condition, yes, no)| format!("({condition} ? {yes} : {no})"));
    let bind = (e(ty), e(ty)).prop_map(|(value, body)| format!("cel.bind(v, {value}, {body})"));
    let optional = (e(ty), e(ty)).prop_map(|(value, other)| format!("optional.of({value}).orValue({other})"));
    let dynamic = e(ty).prop_map(|value| format!("dyn({value})"));
    let element = (e(ty), e("int")).prop_map(|(value, index)| format!("[{value}][{index}]"));
    let common = prop_oneof![condition, bind, optional, dynamic, element];
    match ty {
        "bool" => prop_oneof![
            2 => common,
            2 => (e("bool"), e("bool")).prop_map(|(a, b)| format!("({a} && {b})")),
            2 => (e("bool"), e("bool")).prop_map(|(a, b)| format!("({a} || !{b})")),
            2 => (e("int"), e("int"), prop::sample::select(vec!["<", "<=", "==", "!=", ">", ">="]))
                .prop_map(|(a, b, operator)| format!("({a} {operator} {b})")),
            2 => (e("string"), e("string"), prop::sample::select(vec!["contains", "startsWith", "endsWith", "matches"]))
                .prop_map(|(a, b, function)| format!("{a}.{function}({b})")),
            2 => (e("list"), e("bool"), prop::sample::select(vec!["all", "exists", "exists_one"]))
                .prop_map(|(list, body, function)| format!("{list}.{function}(x, {body})")),
            1 => (e("list"), e("list")).prop_map(|(a, b)| format!("({a} == {b} || sets.contains({a}, {b}))")),
            1 => (e("int"), e("list")).prop_map(|(a, b)| format!("({a} in {b})")),
            1 => e("string").prop_map(|a| format!("isQuantity({a}) || isSemver({a}) || isIP({a}) || isURL({a})")),
        ]
        .boxed(),
        "int" => prop_oneof![
            2 => common,
            3 => (e("int"), e("int"), prop::sample::select(vec!["+", "-", "*", "/", "%"]))
                .prop_map(|(a, b, operator)| format!("({a} {operator} {b})")),
            1 => e("string").prop_map(|a| format!("{a}.size()")),
            1 => e("list").prop_map(|a| format!("{a}.sum()")),
            1 => (e("string"), e("string")).prop_map(|(a, b)| format!("{a}.lastIndexOf({b})")),
            1 => e("string").prop_map(|a| format!("int({a})")),
        ]
        .boxed(),
        "string" => prop_oneof![
            2 => common,
            2 => (e("string"), e("string")).prop_map(|(a, b)| format!("({a} + {b})")),
            1 => (e("string"), e("string"), e("string")).prop_map(|(a, b, c)| format!("{a}.replace({b}, {c})")),
            1 => (e("string"), e("int")).prop_map(|(a, b)| format!("{a}.substring({b})")),
            1 => e("int").prop_map(|a| format!("string({a})")),
            1 => (e("string"), e("string")).prop_map(|(a, b)| format!("{a}.split({b}).join({b})")),
            1 => (e("string"), e("list")).prop_map(|(a, b)| format!("{a}.format([{b}])")),
            1 => e("string").prop_map(|a| format!("{a}.lowerAscii().trim()")),
        ]
        .boxed(),
        _ => prop_oneof![
            2 => common,
            2 => (e("int"), e("int")).prop_map(|(a, b)| format!("[{a}, {b}]")),
            2 => (e("list"), e("list")).prop_map(|(a, b)| format!("({a} + {b})")),
            2 => (e("list"), e("int")).prop_map(|(a, b)| format!("{a}.map(x, {b})")),
            1 => (e("list"), e("bool")).prop_map(|(a, b)| format!("{a}.filter(x, {b})")),
            1 => (e("list"), e("int")).prop_map(|(a, b)| format!("{a}.transformList(i, x, {b})")),
            1 => e("int").prop_map(|a| format!("lists.range({a})")),
            1 => (e("list"), e("int")).prop_map(|(a, b)| format!("{a}.slice(0, {b}).sort().distinct().reverse()")),
        ]
        .boxed(),
    }
}

/// Returns a strategy for constants, variables and parts of the device. Not all variables are in scope, and not all
/// parts have the type `ty`.
fn leaf(ty: &str) -> BoxedStrategy<String> {
    let choices: &[&'static str] = match ty {
        "bool" => &["true", "false", "x", "v", "device.allowMultipleAllocations", "attribute.healthy"],
        "int" => &["0", "1", "-7", "100000", "9223372036854775807", "x", "v", "attribute.numa", "attribute.missing"],
        "string" => &["''", "'a'", "'1.2.3'", "'%s%d'", "'é(b|c)*'", "x", "v", "device.driver", "attribute.model"],
        _ => &["[]", "[1, 2, 3]", "lists.range(200)", "x", "v", "device.attributes.map(d, d.size())"],
    };
    let choices = choices.iter().map(|text| text.replace("attribute.", "device.attributes['gpu.example.com']."));
    prop::sample::select(choices.collect::<Vec<_>>()).boxed()
}

/// Pieces of random texts, most of which are not valid expressions.
const PIECES: [&str; 48] = [
    "device",
    ".",
    "attributes",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "'a'",
    "\"b\"",
    "1",
    "2u",
    "0.5",
    "-",
    "!",
    "+",
    "*",
    "/",
    "%",
    "==",
    "<",
    "&&",
    "||",
    "?",
    ":",
    ",",
    " in ",
    "true",
    "null",
    "x",
    "all",
    "exists",
    "map",
    "cel.bind",
    "has",
    "optional.of",
    ".?",
    "[?",
    "b'\\x00'",
    "r'\\'",
    "//",
    "\n",
    "`a`",
    "'''",
    "\\",
    "é",
    "quantity('1')",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_shrink_time: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn well_formed_expressions_end_within_their_limits(text in expression("bool", 4)) {
        prop_assert_eq!(violation(&text), None);
    }

    #[test]
    fn sequences_of_tokens_do_not_panic(pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..40)) {
        prop_assert_eq!(violation(&pieces.concat()), None);
    }

    #[test]
    fn any_text_does_not_panic(text in any::<String>()) {
        prop_assert_eq!(violation(&text), None);
    }

    #[test]
    fn any_text_in_literals_is_kept(text in "[^'\"\\\\\r\n]{0,40}") {
        prop_assert_eq!(crate::evaluate(&format!("'{text}' == \"{text}\" && r'{text}' == '''{text}'''")), Ok(true));
    }

    #[test]
    fn integers_behave_like_those_of_rust(a in any::<i64>(), b in any::<i64>()) {
        let text = |operator: &str, result: Option<i64>| match result {
            Some(result) => format!("{a} {operator} {b} == {result}"),
            None => "true".to_owned(),
        };
        for (operator, result) in [
            ("+", a.checked_add(b)),
            ("-", a.checked_sub(b)),
            ("*", a.checked_mul(b)),
            ("/", a.checked_div(b)),
            ("%", a.checked_rem(b)),
        ] {
            prop_assert_eq!(crate::evaluate(&text(operator, result)), Ok(true));
        }
        prop_assert_eq!(crate::evaluate(&format!("({a} < {b}) == {}", a < b)), Ok(true));
        prop_assert_eq!(crate::evaluate(&format!("int('{a}') == {a} && string({a}) == '{a}'")), Ok(true));
    }

    #[test]
    fn sorting_agrees_with_rust(mut numbers in prop::collection::vec(any::<i32>(), 0..50)) {
        let text = format!("{numbers:?}.sort()");
        numbers.sort_unstable();
        prop_assert_eq!(crate::evaluate(&format!("{text} == {numbers:?}")), Ok(true));
    }
}
