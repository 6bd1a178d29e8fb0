//! Literals, operators and conversions.

use crate::{all_fail, all_false, all_true};

#[test]
fn literals() {
    all_true(
        r#"
        true
        1 == 1 && -1 == 0 - 1 && 0x1F == 31 && -0xa == -10
        1u == uint(1) && 0xFFu == 255u
        1.5 == 3.0 / 2.0 && 1e3 == 1000.0 && .5 == 0.5 && 1.5e-1 == 0.15
        -9223372036854775808 < 0
        "a" == 'a' && "a'b" == 'a\'b' && r"\n".size() == 2 && "\n".size() == 1
        """a"b""" == 'a"b' && '''x''' == "x" && """""" == "" && "" == ''
        "\x41\u0042\U00000043\104" == "ABCD" && "\a\b\f\r\t\v\\\?\`".size() == 9
        b"\x41\377".size() == 2 && b'a' == bytes("a") && br"\x".size() == 2
        null == null
        [1, 2, 3,].size() == 3 && [].size() == 0 && {}.size() == 0 && {"a": 1,}.size() == 1
        "#,
    );
    assert_eq!(crate::evaluate("1 // a comment\n == 1"), Ok(true));
}

#[test]
fn arithmetic() {
    all_true(
        r#"
        1 + 2 * 3 == 7 && (1 + 2) * 3 == 9 && 10 - 4 - 3 == 3
        7 / 2 == 3 && -7 / 2 == -3 && 7 % 3 == 1 && -7 % 3 == -1
        7u / 2u == 3u && 7u % 3u == 1u && 2u * 3u - 1u == 5u
        1.0 / 0.0 > 1e300 && 0.1 + 0.2 > 0.3
        - 5 == 0 - 5 && --5 == 5 && -(2.5) == -2.5
        "a" + "b" == "ab" && b"a" + b"b" == b"ab" && [1] + [2] == [1, 2]
        [1] + [] + [2] == [1, 2]
        "#,
    );
    all_fail(&[
        ("9223372036854775807 + 1 > 0", "run: integer overflow"),
        ("-9223372036854775808 - 1 > 0", "run: integer overflow"),
        ("-(-9223372036854775808) > 0", "run: integer overflow"),
        ("9223372036854775807 * 2 > 0", "run: integer overflow"),
        ("-9223372036854775808 / -1 > 0", "run: integer overflow"),
        ("0u - 1u > 0u", "run: unsigned integer overflow"),
        ("1 / 0 == 1", "run: division by zero"),
        ("1 % 0 == 1", "run: modulus by zero"),
        ("1u % 0u == 1u", "run: modulus by zero"),
        ("9223372036854775808 > 0", "compile: compilation failed: ERROR: <input>:1:1: invalid int literal"),
        ("18446744073709551616u > 0u", "invalid uint literal"),
    ]);
}

#[test]
fn equality() {
    all_true(
        r#"
        1 == 1 && 1 != 2 && "a" != "b" && [1, 2] == [1, 2] && [1] != [1, 2]
        {"a": 1, "b": 2} == {"b": 2, "a": 1} && {"a": 1} != {"a": 2}
        dyn(1) == dyn(1u) && dyn(1) == dyn(1.0) && dyn(2u) == dyn(2.0)
        dyn(1) != dyn("1") && dyn(null) != dyn(0) && dyn([1]) != dyn(1)
        dyn([1, 2]) == dyn([1.0, 2.0])
        type(1) == int && type("a") == string && type([]) == list && type({}) == map && type(null) == null_type
        type(int) == type && type(1.0) != type(1) && type(duration("1s")) == google.protobuf.Duration
        type(optional.none()) == optional_type && type(timestamp(0)) == google.protobuf.Timestamp
        type(ip("1.2.3.4")) == net.IP
        "#,
    );
    all_false(
        r#"
        double("NaN") == double("NaN")
        dyn(1.5) == dyn(1)
        dyn(9223372036854775807) == dyn(1e30)
        "#,
    );
}

#[test]
fn order() {
    all_true(
        r#"
        1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3 && "a" < "b" && "a" < "aa" && b"a" < b"b" && false < true
        1 < 2u && 1u < 2 && 1 < 1.5 && 1.5 > 1 && 2u > 1.5 && -1 < 0u && 1.0 <= 1u
        9223372036854775807 < 9223372036854775808u && dyn(1) < dyn(2.0)
        duration("1s") < duration("1m") && timestamp("2020-01-01T00:00:00Z") < timestamp("2021-01-01T00:00:00Z")
        "#,
    );
    all_fail(&[
        ("double('NaN') < 1.0", "run: NaN values cannot be ordered"),
        ("dyn(1) < dyn('a')", "run: no such overload"),
        ("1 < 'a'", "found no matching overload for '_<_' applied to '(int, string)'"),
        ("[1] < [2]", "found no matching overload"),
    ]);
}

#[test]
fn logic_absorbs_failures() {
    all_true(
        r#"
        true || 1 / 0 == 1
        1 / 0 == 1 || true
        !(false && 1 / 0 == 1)
        !(1 / 0 == 1 && false)
        true ? true : 1 / 0 == 1
        false ? 1 / 0 == 1 : true
        !!true && !false
        1 / 0 == 1 || 2 / 0 == 1 || true
        "#,
    );
    all_fail(&[
        ("false || 1 / 0 == 1", "run: division by zero"),
        ("1 / 0 == 1 && true", "run: division by zero"),
        ("1 % 0 == 1 || 1 / 0 == 1", "run: modulus by zero"),
        ("dyn(1) || false", "run: no such overload"),
        ("(1 / 0 == 1) ? true : false", "run: division by zero"),
        ("dyn(1) ? true : false", "run: no such overload"),
        ("1 && true", "compile: compilation failed: ERROR: <input>:1:1: expected type 'bool' but found 'int'"),
        ("true ? 1 : 'a'", "found no matching overload for '_?_:_'"),
    ]);
}

#[test]
fn indexes_and_fields() {
    all_true(
        r#"
        [1, 2, 3][0] == 1 && [1, 2, 3][2] == 3 && [1, 2][dyn(1.0)] == 2
        {"a": 1}["a"] == 1 && {"a": 1}.a == 1 && {1: "x"}[1] == "x" && {true: 2}[true] == 2 && {1u: 3}[1u] == 3
        {"a-b": 1}.`a-b` == 1 && {"a": {"b": 2}}.a.b == 2
        {1: 2}[dyn(1u)] == 2 && {1: 2}[dyn(1.0)] == 2
        has({"a": 1}.a) && !has({"a": 1}.b)
        2 in [1, 2] && !(3 in [1, 2]) && "a" in {"a": 1} && !("b" in {"a": 1}) && 1 in [dyn(1.0)]
        !(1 in []) && "x" in ["x", "y"] && dyn(1) in [1u, 2u]
        (true ? {"a": 1} : {"a": 2}).a == 1
        {"as": 1}.as == 1
        "#,
    );
    all_fail(&[
        ("[1][1] == 1", "run: index out of bounds: 1"),
        ("[1][-1] == 1", "run: index out of bounds: -1"),
        ("{'a': 1}.b == 1", "run: no such key: b"),
        ("{'a': 1}['b'] == 1", "run: no such key: b"),
        ("dyn(1).a == 1", "run: no such key: a"),
        ("[1]['a'] == 1", "found no matching overload for '_[_]'"),
        ("'a'.b == 1", "type 'string' does not support field selection"),
        ("1 in 2", "found no matching overload for '@in'"),
        ("{[1]: 2}.size() == 1", "run: unsupported key type: list"),
    ]);
}

#[test]
fn conversions() {
    all_true(
        r#"
        int("42") == 42 && int(4.9) == 4 && int(-4.9) == -4 && int(5u) == 5 && int("-7") == -7
        uint("42") == 42u && uint(4.9) == 4u && uint(5) == 5u
        double("1.5") == 1.5 && double(2) == 2.0 && double(3u) == 3.0 && double("1e3") == 1000.0
        string(1) == "1" && string(1u) == "1" && string(1.5) == "1.5" && string(true) == "true" && string(b"a") == "a"
        string(1e6) == "1e+06" && string(123456.0) == "123456" && string(0.0001) == "0.0001" && string(1e-5) == "1e-05"
        bool("true") && bool("1") && bool("T") && !bool("False")
        bytes("é").size() == 2 && size("é") == 1
        int(timestamp("1970-01-01T00:01:00Z")) == 60 && timestamp(60) == timestamp("1970-01-01T00:01:00Z")
        duration("90s") == duration("1m30s") && int(duration("1us")) == 1000 && string(duration("1.5s")) == "1.5s"
        "#,
    );
    all_fail(&[
        ("int(string(dyn('x'))) == 1", "type conversion error from 'string' to 'int'"),
        ("int('x') == 1", "compile: program instantiation failed: type conversion error from 'string' to 'int'"),
        ("int(1e30) == 1", "program instantiation failed: integer overflow"),
        ("uint(-1) == 1u", "unsigned integer overflow"),
        ("bool('yes')", "type conversion error from 'string' to 'bool'"),
        ("string(b'\\xff') == 'a'", "invalid UTF-8 in bytes"),
        ("int([1]) == 1", "found no matching overload for 'int'"),
    ]);
}

#[test]
fn times() {
    all_true(
        r#"
        timestamp("2009-02-13T23:31:30Z").getFullYear() == 2009
        timestamp("2009-02-13T23:31:30Z").getMonth() == 1 && timestamp("2009-02-13T23:31:30Z").getDate() == 13
        timestamp("2009-02-13T23:31:30Z").getDayOfMonth() == 12 && timestamp("2009-02-13T23:31:30Z").getDayOfWeek() == 5
        timestamp("2009-02-13T23:31:30Z").getDayOfYear() == 43 && timestamp("2009-02-13T23:31:30.5Z").getMilliseconds() == 500
        timestamp("2009-02-13T23:31:30Z").getHours() == 23 && timestamp("2009-02-13T23:31:30Z").getHours("+01:00") == 0
        timestamp("2009-02-13T23:31:30Z").getMinutes() == 31 && timestamp("2009-02-13T23:31:30Z").getMinutes("-00:30") == 1
        timestamp("2009-02-13T23:31:30+02:00") == timestamp("2009-02-13T21:31:30Z")
        string(timestamp("2009-02-13T23:31:30.5Z")) == "2009-02-13T23:31:30.5Z"
        timestamp("2020-02-28T00:00:00Z") + duration("24h") == timestamp("2020-02-29T00:00:00Z")
        timestamp("2020-03-01T00:00:00Z") - timestamp("2020-02-28T00:00:00Z") == duration("48h")
        duration("1h") - duration("1m") == duration("59m") && duration("-1h") < duration("0")
        duration("3730s").getHours() == 1 && duration("3730s").getMinutes() == 62 && duration("3730s").getSeconds() == 3730
        timestamp("0001-01-01T00:00:00Z") < timestamp("9999-12-31T23:59:59.999999999Z")
        "#,
    );
    all_fail(&[
        ("timestamp('2009-02-30T00:00:00Z') > timestamp(0)", "invalid timestamp argument"),
        ("duration('1 hour') > duration('1s')", "invalid duration argument"),
        ("timestamp('9999-12-31T23:59:59Z') + duration('1s') > timestamp(0)", "run: timestamp overflow"),
        ("timestamp(253402300800) > timestamp(0)", "timestamp overflow"),
        ("duration('2562047h') + duration('2562047h') > duration('1s')", "run: duration overflow"),
        ("timestamp(0).getHours('Mars/Olympus') == 1", "run: unknown time zone Mars/Olympus"),
    ]);
}

#[test]
fn standard_functions() {
    all_true(
        r#"
        size("abc") == 3 && "abc".size() == 3 && size([1, 2]) == 2 && size({"a": 1}) == 1 && size(b"abc") == 3
        "hello".contains("ell") && "hello".startsWith("he") && "hello".endsWith("lo") && !"hello".contains("x")
        "hello".matches("l+") && matches("hello", "^h.*o$") && !"hello".matches("^l")
        "".contains("") && "x".startsWith("")
        .size("abc") == 3 && .quantity("1").isLessThan(quantity("2"))
        "#,
    );
}
