//! Differences between the extenders of two profiles. Extenders with the same URL are compared.

use serde_json::Value;

use super::Difference;

const URL: &str = "url-prefix";

pub(super) fn differences(a: &[Value], b: &[Value], differences: &mut Vec<Difference>) {
    let (a, b) = (named(a), named(b));
    let other = |list: &[(String, Value)], name: &str| list.iter().find(|(other, _)| other == name).cloned();
    for (url, in_a) in &a {
        match other(&b, url) {
            Some((_, in_b)) => compare_settings(url, in_a, &in_b, differences),
            None => differences.push(extender_difference(url, Some(in_a), None)),
        }
    }
    let only_in_b = b.iter().filter(|(url, _)| other(&a, url).is_none());
    differences.extend(only_in_b.map(|(url, extender)| extender_difference(url, None, Some(extender))));
    let common = |these: &[(String, Value)], others: &[(String, Value)]| -> Vec<String> {
        these.iter().map(|(url, _)| url.clone()).filter(|url| other(others, url).is_some()).collect()
    };
    let (a, b) = (common(&a, &b), common(&b, &a));
    if a != b {
        differences.push(Difference::Order { point: "extender", a, b });
    }
}

/// Returns each extender with its URL. A repeated URL is followed by a number: `http://a (2)`. The client's private key
/// is hidden.
fn named(extenders: &[Value]) -> Vec<(String, Value)> {
    let mut named: Vec<(String, Value)> = Vec::new();
    for extender in extenders {
        let url = extender[URL].as_str().unwrap_or_default();
        let before = extenders.iter().take(named.len()).filter(|other| other[URL] == url).count();
        let name = if before == 0 { url.to_owned() } else { format!("{url} ({})", before + 1) };
        let mut extender = extender.clone();
        if let Some(key) = extender.pointer_mut("/tls-config/key-data") {
            *key = "(hidden)".into();
        }
        named.push((name, extender));
    }
    named
}

fn extender_difference(url: &str, a: Option<&Value>, b: Option<&Value>) -> Difference {
    Difference::Extender { url: url.to_owned(), a: a.cloned(), b: b.cloned() }
}

fn compare_settings(url: &str, a: &Value, b: &Value, differences: &mut Vec<Difference>) {
    let keys = |extender: &Value| -> Vec<String> {
        extender.as_object().map(|fields| fields.keys().cloned().collect()).unwrap_or_default()
    };
    let mut all = keys(a);
    all.extend(keys(b).into_iter().filter(|key| a.get(key).is_none()));
    for key in all.into_iter().filter(|key| a.get(key) != b.get(key)) {
        let (a, b) = (a.get(&key).cloned(), b.get(&key).cloned());
        differences.push(Difference::ExtenderSetting { url: url.to_owned(), key, a, b });
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    #[test]
    fn extenders_with_equal_urls_are_compared() {
        let a = json!([
            {"url-prefix": "http://a", "filter-verb": "f", "weight": 1},
            {"url-prefix": "http://b"},
            {"url-prefix": "http://a", "bind-verb": "b", "tls-config": {"key-data": "secret"}},
        ]);
        let b = json!([
            {"url-prefix": "http://c", "filter-verb": "f"},
            {"url-prefix": "http://b", "ignorable": true},
            {"url-prefix": "http://a", "filter-verb": "f", "weight": 2},
        ]);
        let mut actual = Vec::new();
        differences(a.as_array().unwrap(), b.as_array().unwrap(), &mut actual);
        let lines: Vec<String> = actual.iter().map(|difference| format!("{difference:?}\n")).collect();
        expect![[r#"
            ExtenderSetting { url: "http://a", key: "weight", a: Some(Number(1)), b: Some(Number(2)) }
            ExtenderSetting { url: "http://b", key: "ignorable", a: None, b: Some(Bool(true)) }
            Extender { url: "http://a (2)", a: Some(Object {"bind-verb": String("b"), "tls-config": Object {"key-data": String("(hidden)")}, "url-prefix": String("http://a")}), b: None }
            Extender { url: "http://c", a: None, b: Some(Object {"filter-verb": String("f"), "url-prefix": String("http://c")}) }
            Order { point: "extender", a: ["http://a", "http://b"], b: ["http://b", "http://a"] }
        "#]].assert_eq(&lines.concat());
    }
}
