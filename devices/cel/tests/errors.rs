//! Texts of errors.

use schedc_cel::Selector;

use crate::all_fail;

#[test]
fn syntax() {
    all_fail(&[
        ("", "<input>:1:1: Syntax error: mismatched input '<EOF>' expecting an expression"),
        ("device.driver ==", "<input>:1:17: Syntax error: mismatched input '<EOF>' expecting an expression"),
        ("true true", "<input>:1:6: Syntax error: mismatched input 'true' expecting end of input"),
        ("(true", "<input>:1:6: Syntax error: mismatched input '<EOF>' expecting ')'"),
        ("[1", "expecting ','"),
        ("{'a' 1}", "expecting ':'"),
        ("true ? false", "expecting ':'"),
        ("a.1", "<input>:1:2: Syntax error"),
        ("device.", "expecting a field name"),
        ("#", "token recognition error at: '#'"),
        ("'a", "token recognition error at: '''"),
        ("\"\\q\" == ''", "unable to unescape string"),
        ("'\\ud800' == ''", "invalid unicode code point"),
        ("if == 1", "reserved identifier: if"),
        ("device{}", "messages cannot be created"),
        ("has(device)", "invalid argument to has() macro"),
    ]);
}

#[test]
fn types() {
    all_fail(&[
        ("device.attribute['x'] == 1", "<input>:1:7: undefined field 'attribute'"),
        ("unknown", "<input>:1:1: undeclared reference to 'unknown' (in container '')"),
        ("unknown() == 1", "undeclared reference to 'unknown'"),
        ("'a'.unknown()", "undeclared reference to 'unknown'"),
        ("device.driver", "compile: must evaluate to bool or the unknown type, not string"),
        ("1", "must evaluate to bool or the unknown type, not int"),
        ("dyn(true)", "must evaluate to bool or the unknown type, not dyn"),
        ("[1, 'a'].size() == 2", "<input>:1:5: expected type 'int' but found 'string'"),
        ("{'a': 1, 'b': 'c'}.size() == 2", "expected type 'int' but found 'string'"),
        (
            "[device.attributes['d'].model, 'x'].exists(m, m == 'A100')",
            "<input>:1:32: expected type 'any' but found 'string'",
        ),
        (
            "device.capacity['d'].memory > 3",
            "<input>:1:29: found no matching overload for '_>_' applied to '(kubernetes.Quantity, int)'",
        ),
        ("'a'.contains(1)", "found no matching overload for 'contains' applied to 'string.(int)'"),
        ("device.attributes['d'].x.exists(v, v == 1)", "expression of type 'any' cannot be range of a comprehension"),
        ("device.attributes[1].x", "found no matching overload for '_[_]'"),
        ("x.y", "undeclared reference to 'x'"),
        ("[1].exists(x, x == 1) && x == 1", "undeclared reference to 'x'"),
        ("google.protobuf.Int64Value == int", "undeclared reference to 'google'"),
    ]);
}

#[test]
fn errors_have_line_and_column() {
    let message = |text: &str| Selector::compile(text).expect_err("an error").to_string();
    assert_eq!(
        message("device.driver == 'a' &&\n  device.drivr == 'b'"),
        "compilation failed: ERROR: <input>:2:9: undefined field 'drivr'\n |   device.drivr == 'b'\n | ........^"
    );
    assert_eq!(
        message("'é' == 1"),
        "compilation failed: ERROR: <input>:1:5: found no matching overload for '_==_' applied to '(string, int)'\n \
         | 'é' == 1\n | ....^"
    );
}
