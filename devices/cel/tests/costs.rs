//! Costs of evaluations, and estimates of them, in the units of Kubernetes.

use schedc_cel::Selector;

use crate::gpu;

#[track_caller]
fn check(rows: &[(&str, u64, u64)]) {
    let devices = gpu();
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|(text, cost, estimate)| {
            let selector = Selector::compile(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let found = selector.bind(&devices).evaluated(0).map(|(_, cost)| cost);
            (found != Ok(*cost) || selector.estimated_cost() != *estimate).then(|| {
                format!("{text}\n    expected {cost} and {estimate}, found {found:?} and {}", selector.estimated_cost())
            })
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn variables_fields_and_indexes_cost_one_each() {
    check(&[
        ("true", 0, 0),
        ("device.allowMultipleAllocations", 2, 2),
        ("!device.allowMultipleAllocations", 3, 3),
        ("device.attributes['gpu.example.com'].healthy", 4, 4),
        ("device.attributes['gpu.example.com']['healthy']", 4, 4),
        ("device.driver == 'gpu.example.com'", 4, 4),
        ("has(device.attributes['gpu.example.com'].model)", 3, 3),
        ("'gpu.example.com' in device.attributes", 3, 3),
        ("device.attributes['gpu.example.com'].numa > 0", 5, 5),
        ("device.attributes['gpu.example.com'].driverVersion.isLessThan(semver('2.0.0'))", 6, 6),
        ("device.capacity['gpu.example.com'].memory.compareTo(quantity('40Gi')) == 0", 7, 7),
        // The value is computed at its first use, and each use costs one. The estimate includes an empty loop.
        ("cel.bind(a, device.attributes['gpu.example.com'], a.healthy && a.numa == 1)", 8, 18),
        ("cel.bind(a, device.attributes['gpu.example.com'], has(a.model) && 'numa' in a)", 3 + 1 + 2, 16),
        ("cel.bind(a, device.attributes['gpu.example.com'], a.?rare.orValue(true))", 3 + 2, 16),
        // As in `cel-go`, the variable `device` in a branch of `?:` has no cost at run time.
        ("device.allowMultipleAllocations ? false : device.attributes['gpu.example.com'].healthy", 5, 6),
        ("false || true && device.allowMultipleAllocations == false", 3, 3),
    ]);
}

#[test]
fn a_loop_costs_the_sum_of_its_rounds() {
    check(&[
        // Each round costs three for the condition, one for the accumulator and two for the comparison. The result
        // costs one.
        ("[1, 2, 3].exists(x, x == 5)", 3 * 6 + 1, 10 + 3 * 6 + 1),
        ("[1, 2, 3].exists(x, x == 1)", 6 + 3 + 1, 10 + 3 * 6 + 1),
        ("[1, 2].all(x, x > 0)", 2 * 5 + 1, 10 + 2 * 5 + 1),
        ("[1, 2].map(x, x * 2) == [2, 4]", 2 * 14 + 1 + 1, 10 + 10 + 2 * 14 + 1 + 10 + 1),
        ("device.attributes.exists_one(d, d == 'gpu.example.com')", 12, 164),
    ]);
}

#[test]
fn the_cost_of_a_function_depends_on_sizes() {
    check(&[
        // Text is read at a tenth of a unit per character.
        ("'0123456789012345'.startsWith('0')", 2, 1),
        ("'0123456789012345'.contains('0123456789012')", 4, 4),
        ("'0123456789012345'.matches('[0-9]{16}')", 2 * 3, 2 * 3),
        ("'0123456789012345'.lowerAscii() == ''", 2, 2),
        ("['a', 'b'].join('-') == 'a-b'", 2, 1_844_674_407_370_955_275),
        ("lists.range(100).size() == 100", 100 + 11 + 1 + 1, 100 + 11 + 1 + 1),
        ("[3, 2, 1].sort() == [1, 2, 3]", 18 + 11 + 1, 10 + 18 + 11 + 10 + 1),
        ("sets.contains([1, 2, 3], [1, 2])", 7, 20 + 7),
        ("cidr('10.0.0.0/8').containsIP('10.0.0.1')", 1 + 1 + 1, 1 + 5),
        ("ip('10.0.0.1') == ip('10.0.0.2')", 3, 3),
        ("1 in [1, 2, 3]", 0, 13),
        ("device.attributes['gpu.example.com'].numa in [1, 2, 3]", 4, 17),
        ("'abc' < 'abd' && b'a' < b'b'", 2, 2),
        ("int('1') == 1", 1, 2),
    ]);
}

#[test]
fn costs_above_the_limit_are_reported_and_end_the_evaluation() {
    let text = "[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, \
                [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, [1,2,3,4,5,6,7,8,9,10].all(f, \
                [1,2,3,4,5,6,7,8,9,10].all(g, int('1'.find('[0-9]*')) < 100)))))))";
    let selector = Selector::compile(text).expect("a selector");
    assert!(selector.exceeds_estimated_cost());
    let devices = gpu();
    let error = selector.matches(devices.get(0).expect("a device")).expect_err("the limit");
    assert!(error.exceeds_limit());
    assert_eq!(error.to_string(), "operation cancelled: actual cost limit exceeded");
    assert!(!Selector::compile("device.driver == 'x'").expect("a selector").exceeds_estimated_cost());
}
