//! Kubernetes' libraries and CEL's extensions.

use crate::{all_fail, all_false, all_true};

#[test]
fn strings() {
    all_true(
        r#"
        "tacocat".charAt(3) == "o" && "abc".charAt(3) == "" && "©αT".charAt(1) == "α"
        "tacocat".indexOf("ac") == 1 && "tacocat".indexOf("none") == -1 && "tacocat".indexOf("a", 3) == 5
        "tacocat".indexOf("") == 0 && "abc".indexOf("c", 10) == -1 && "ta©o©αT".indexOf("©", 3) == 4
        "tacocat".lastIndexOf("at") == 5 && "tacocat".lastIndexOf("a", 3) == 1 && "abc".lastIndexOf("") == 3
        "abab".lastIndexOf("ab", 1) == 0 && "a".lastIndexOf("abc") == -1 && "".lastIndexOf("x") == -1
        "TacoCÆt".lowerAscii() == "tacocÆt" && "TacoCat".upperAscii() == "TACOCAT"
        "hello hello".replace("he", "we") == "wello wello" && "hello hello".replace("he", "we", 1) == "wello hello"
        "hello hello".replace("he", "we", 0) == "hello hello" && "12".replace("", "_") == "_1_2_"
        "a b c".split(" ") == ["a", "b", "c"] && "a b c".split(" ", 2) == ["a", "b c"] && "a b".split(" ", 0) == []
        "a b c".split(" ", -1) == ["a", "b", "c"] && "abc".split("") == ["a", "b", "c"] && "abc".split("", 2) == ["a", "bc"]
        "tacocat".substring(4) == "cat" && "tacocat".substring(0, 4) == "taco" && "ta©o".substring(2, 3) == "©"
        "tacocat".substring(7) == "" && "x".substring(0, 0) == ""
        "  \ttrim\n ".trim() == "trim" && "".trim() == ""
        ["a", "b"].join() == "ab" && ["a", "b"].join("-") == "a-b" && [].join("x") == ""
        strings.quote('a"b\n') == "\"a\\\"b\\n\""
        "#,
    );
    all_fail(&[
        ("'abc'.charAt(4) == ''", "run: index out of range: 4"),
        ("'abc'.substring(4) == ''", "run: index out of range: 4"),
        ("'abc'.substring(2, 1) == ''", "run: invalid substring range. start: 2, end: 1"),
        ("'abc'.indexOf('a', -1) == 0", "run: index out of range: -1"),
        ("'abc'.reverse() == 'cba'", "found no matching overload for 'reverse'"),
    ]);
}

#[test]
fn formats_of_strings() {
    all_true(
        r#"
        "%s is %d".format(["x", dyn(3)]) == "x is 3" && "100%%".format([]) == "100%"
        "%s %s %s".format([dyn(true), dyn(1.5), dyn(null)]) == "true 1.5 null"
        "%s".format([[1, 2]]) == "[1, 2]" && "%s".format([{"b": 1, "a": 2}]) == '{"a":2, "b":1}'
        "%x %X %o %b".format([255, 255, 8, 5]) == "ff FF 10 101" && "%x".format(["ab"]) == "6162"
        "%.2f".format([1.005]) == "1.00" && "%f".format([2.5]) == "2.500000" && "%.1f".format([1234567.0]) == "1,234,567.0"
        "%d".format([-7]) == "-7" && "%x".format([-255]) == "-ff" && "%b".format([true]) == "1"
        "#,
    );
    all_fail(&[
        ("'%d'.format(['a']) == ''", "compile: compilation failed: ERROR: <input>:1:12: error during formatting"),
        ("'%d %d'.format([1]) == ''", "index 1 out of range"),
        ("'%d'.format([1, 2]) == ''", "too many arguments supplied to string.format (expected 1, got 2)"),
        ("'%z'.format([1]) == ''", "unrecognized formatting clause"),
        ("'%d'.format([dyn('a')]) == ''", "run: error during formatting"),
        ("'%s %d'.format(['a', 1]) == ''", "expected type 'string' but found 'int'"),
    ]);
}

#[test]
fn lists() {
    all_true(
        r#"
        [1, 2, 3].isSorted() && ![2, 1].isSorted() && ["a", "b"].isSorted() && [].isSorted()
        [1, 2].sum() == 3 && [1.5, 2.5].sum() == 4.0 && [duration("1s"), duration("2s")].sum() == duration("3s")
        [duration("1s")].filter(x, false).sum() == duration("0") && [1.5].filter(x, false).sum() == 0.0
        [1, 3, 2].max() == 3 && ["b", "a"].min() == "a"
        [1, 2, 2].indexOf(2) == 1 && [1, 2, 2].lastIndexOf(2) == 2 && [1].indexOf(5) == -1
        [1, 2, 3, 4].slice(1, 3) == [2, 3] && [1].slice(0, 0) == []
        [[1, 2], [3]].flatten() == [1, 2, 3] && [[[1]], [[2]]].flatten() == [[1], [2]]
        [dyn([[1], [2]]), dyn(3)].flatten(2) == [1, 2, 3] && [dyn([[1]])].flatten(0) == [dyn([[1]])]
        [3, 1, 2].sort() == [1, 2, 3] && ["b", "a"].sort() == ["a", "b"] && [true, false].sort() == [false, true]
        ["bbb", "a", "cc"].sortBy(x, x.size()) == ["a", "cc", "bbb"]
        [{"n": 2}, {"n": 1}].sortBy(x, x.n).map(x, x.n) == [1, 2]
        lists.range(3) == [0, 1, 2] && lists.range(0) == [] && lists.range(-1) == []
        [1, 2, 3].reverse() == [3, 2, 1] && [1, 2, 1, 3].distinct() == [1, 2, 3]
        lists.range(200).map(x, x).reverse()[0] == 199
        (lists.range(100) + lists.range(100)).size() == 200 && (lists.range(100) + lists.range(100))[150] == 50
        "#,
    );
    all_fail(&[
        ("[1].filter(x, x > 1).max() == 1", "run: max called on empty list"),
        ("[1].slice(0, 2) == []", "run: cannot slice(0, 2), list is length 1"),
        ("[1].slice(1, 0) == []", "start index must be less than or equal to end index"),
        ("[1].slice(-1, 0) == []", "negative indexes not supported"),
        ("[[1]].sort() == []", "found no matching overload for 'sort'"),
    ]);
}

#[test]
fn sets() {
    all_true(
        r#"
        sets.contains([1, 2, 3], [1, 3]) && !sets.contains([1], [2]) && sets.contains([], [])
        sets.equivalent([1, 2], [2, 1, 1]) && !sets.equivalent([1], [1, 2])
        sets.intersects([1, 2], [2, 3]) && !sets.intersects([1], []) && sets.contains([dyn(1)], [dyn(1.0)])
        "#,
    );
}

#[test]
fn regular_expressions() {
    all_true(
        r#"
        "abc 123".find("[0-9]+") == "123" && "abc".find("[0-9]+") == ""
        "123 abc 456".findAll("[0-9]+") == ["123", "456"] && "1 2 3".findAll("[0-9]", 2) == ["1", "2"]
        "1 2".findAll("[0-9]", 0) == [] && "abc".matches("^" + "abc" + "$")
        "A100".matches("^[AH]100$") && !"é".matches("^\\w$")
        "#,
    );
    all_fail(&[
        ("'a'.matches('[')", "invalid matches argument"),
        ("'a'.find('(') == ''", "invalid find argument"),
        ("'a'.matches('(' + 'b')", "run: error parsing regexp"),
    ]);
}

#[test]
fn quantities() {
    all_true(
        r#"
        isQuantity("1Gi") && !isQuantity("1Zi") && !isQuantity("") && !isQuantity(" 1") && isQuantity("1e3")
        quantity("1Gi") == quantity("1024Mi") && quantity("1") != quantity("2") && quantity("1000m") == quantity("1")
        quantity("2").isGreaterThan(quantity("1")) && quantity("1").isLessThan(quantity("2"))
        quantity("1").compareTo(quantity("2")) == -1 && quantity("2").compareTo(quantity("2")) == 0
        quantity("50k").asInteger() == 50000 && quantity("50k").isInteger() && !quantity("1500m").isInteger()
        quantity("1500m").asApproximateFloat() == 1.5 && sign(quantity("-1")) == -1 && sign(quantity("0")) == 0
        quantity("1").add(quantity("500m")) == quantity("1500m") && quantity("1").add(2) == quantity("3")
        quantity("1").sub(quantity("500m")) == quantity("500m") && quantity("1").sub(2) == quantity("-1")
        quantity("1") == quantity("3").sub(2)
        "#,
    );
    all_fail(&[
        ("quantity('x') == quantity('1')", "run: quantities must match the regular expression"),
        ("quantity('1500m').asInteger() == 1", "run: cannot convert value to integer"),
        ("quantity('1') == 1", "found no matching overload for '_==_'"),
        ("quantity('1') < quantity('2')", "found no matching overload for '_<_'"),
        ("quantity('1') == dyn(1)", "run: no such overload"),
    ]);
}

#[test]
fn versions() {
    all_true(
        r#"
        isSemver("1.2.3") && !isSemver("1.2") && !isSemver("v1.2.3") && !isSemver("01.2.3") && isSemver("1.2.3-a.1+b.2")
        isSemver("v1.2", true) && isSemver("01.02.03", true) && !isSemver("1.2-beta", true)
        semver("1.2.3").major() == 1 && semver("1.2.3").minor() == 2 && semver("1.2.3").patch() == 3
        semver("1.2.3").isLessThan(semver("1.10.0")) && semver("1.0.0").isGreaterThan(semver("1.0.0-rc.1"))
        semver("1.0.0-alpha.1").isLessThan(semver("1.0.0-alpha.beta")) && semver("1.0.0-2").isLessThan(semver("1.0.0-10"))
        semver("1.0.0+a") == semver("1.0.0+b") && semver("1.0.0").compareTo(semver("1.0.0")) == 0
        semver("v1", true) == semver("1.0.0") && semver("1.2.3", false) == semver("1.2.3")
        "#,
    );
    all_fail(&[("semver('1.2') == semver('1.2.0')", "run: No Major.Minor.Patch elements found")]);
}

#[test]
fn networks() {
    all_true(
        r#"
        isIP("127.0.0.1") && isIP("::1") && !isIP("127.0.0.256") && !isIP("::ffff:1.2.3.4") && !isIP("fe80::1%eth0")
        ip("127.0.0.1").family() == 4 && ip("::1").family() == 6 && ip("::1") == ip("0:0::1")
        ip.isCanonical("::1") && !ip.isCanonical("0:0::1") && string(ip("0:0::1")) == "::1"
        ip("127.0.0.1").isLoopback() && ip("0.0.0.0").isUnspecified() && ip("169.254.1.1").isLinkLocalUnicast()
        ip("224.0.0.1").isLinkLocalMulticast() && ip("ff02::1").isLinkLocalMulticast() && ip("10.0.0.1").isGlobalUnicast()
        !ip("255.255.255.255").isGlobalUnicast() && !ip("224.0.0.1").isGlobalUnicast()
        isCIDR("10.0.0.0/8") && !isCIDR("10.0.0.0/33") && !isCIDR("10.0.0.0") && !isCIDR("10.0.0.0/08")
        cidr("10.0.0.0/8").containsIP("10.1.2.3") && !cidr("10.0.0.0/8").containsIP(ip("11.0.0.1"))
        cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16") && !cidr("10.1.0.0/16").containsCIDR(cidr("10.0.0.0/8"))
        cidr("10.1.2.3/8").ip() == ip("10.1.2.3") && cidr("10.1.2.3/8").masked() == cidr("10.0.0.0/8")
        cidr("10.0.0.0/8").prefixLength() == 8 && string(cidr("::1/128")) == "::1/128" && cidr("0.0.0.0/0").containsIP("1.2.3.4")
        !cidr("::/0").containsIP("1.2.3.4")
        "#,
    );
    all_fail(&[
        ("ip('x').family() == 4", "run: IP Address \"x\" parse error"),
        ("cidr('10.0.0.0/8').containsIP('x')", "run: IP Address \"x\" parse error"),
    ]);
}

#[test]
fn urls() {
    all_true(
        r#"
        isURL("https://example.com:80/a%20b?k=v&k=w") && isURL("/path") && !isURL("example.com") && !isURL("https://a:b")
        url("https://user@example.com:80/path").getHost() == "example.com:80"
        url("https://example.com:80/").getHostname() == "example.com" && url("https://[::1]:80/").getHostname() == "::1"
        url("https://example.com:80/").getPort() == "80" && url("HTTPS://example.com").getScheme() == "https"
        url("https://example.com/a b").getEscapedPath() == "/a%20b" && url("/a").getScheme() == ""
        url("https://example.com/?k=v&k=w&x=a%20b").getQuery() == {"k": ["v", "w"], "x": ["a b"]}
        "#,
    );
    all_fail(&[("url('nope').getHost() == ''", "run: URL parse error")]);
}

#[test]
fn named_formats() {
    all_true(
        r#"
        !format.dns1123Label().validate("my-name").hasValue() && format.dns1123Label().validate("My").hasValue()
        !format.dns1123Subdomain().validate("a.b-c").hasValue() && format.dns1123Subdomain().validate("a..b").hasValue()
        format.dns1035Label().validate("1a").hasValue() && !format.dns1123LabelPrefix().validate("abc-").hasValue()
        !format.qualifiedName().validate("example.com/Name").hasValue() && format.qualifiedName().validate("/x").hasValue()
        !format.labelValue().validate("").hasValue() && format.labelValue().validate("-a").hasValue()
        !format.uri().validate("http://x").hasValue() && format.uri().validate("x").hasValue()
        !format.uuid().validate("123e4567-e89b-12d3-a456-426614174000").hasValue() && format.uuid().validate("x").hasValue()
        !format.byte().validate("YWJj").hasValue() && format.byte().validate("YWJ").hasValue()
        !format.date().validate("2020-02-29").hasValue() && format.date().validate("2021-02-29").hasValue()
        !format.datetime().validate("2020-02-29T01:02:03Z").hasValue() && format.datetime().validate("x").hasValue()
        format.named("dns1123Label").hasValue() && !format.named("none").hasValue()
        format.dns1123Label() == format.named("dns1123Label").value()
        format.dns1123Label().validate("A").value().size() == 1
        "#,
    );
    all_false("format.uuid() == format.date()");
}
