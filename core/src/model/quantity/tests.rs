use proptest::prelude::*;

use super::*;

fn quantity(text: &str) -> Quantity {
    Quantity::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn suffixes_scale_and_values_are_rounded_away_from_zero() {
    for (text, value, milli) in [
        ("0", 0, 0),
        ("1", 1, 1000),
        ("+1", 1, 1000),
        ("-1", -1, -1000),
        ("0100m", 1, 100),
        ("1.", 1, 1000),
        (".5", 1, 500),
        ("0.5m", 1, 1),
        ("1500u", 1, 2),
        ("1500000n", 1, 2),
        ("1n", 1, 1),
        ("-1n", -1, -1),
        ("-1.5", -2, -1500),
        ("1k", 1_000, 1_000_000),
        ("2M", 2_000_000, 2_000_000_000),
        ("3G", 3_000_000_000, 3_000_000_000_000),
        ("4T", 4_000_000_000_000, 4_000_000_000_000_000),
        ("5P", 5_000_000_000_000_000, 5_000_000_000_000_000_000),
        ("1E", 1_000_000_000_000_000_000, 0),
        ("1Ki", 1024, 1_024_000),
        ("1.5Ki", 1536, 1_536_000),
        ("3Mi", 3 << 20, 3_145_728_000),
        ("1.1Gi", 1_181_116_007, 1_181_116_006_400),
        ("2Ti", 2 << 40, 2_199_023_255_552_000),
        ("2Pi", 2 << 50, 2_251_799_813_685_248_000),
        ("7Ei", 7 << 60, 1_152_921_504_606_846_976_i64.wrapping_mul(7000)),
        ("1e3", 1_000, 1_000_000),
        ("1E3", 1_000, 1_000_000),
        ("1.5e+2", 150, 150_000),
        ("100e-3", 1, 100),
        ("2.5e9", 2_500_000_000, 2_500_000_000_000),
        (" 2 ", 2, 2000),
    ] {
        let parsed = quantity(text);
        assert_eq!((parsed.value(), parsed.milli_value()), (value, milli), "{text}");
    }
}

#[test]
fn a_missing_number_is_zero_where_kubernetes_accepts_it() {
    for text in ["-", "+", ".", "Ki", "m", "e5", "00", "-0", "0.000000000000", "0e9999999999"] {
        assert!(quantity(text).is_zero(), "{text}");
    }
}

#[test]
fn invalid_quantities_have_kubernetes_errors() {
    for (text, error) in [
        ("", QuantityError::Format),
        ("   ", QuantityError::Format),
        ("lots", QuantityError::Format),
        ("1.2.3", QuantityError::Format),
        ("1 Gi", QuantityError::Format),
        ("1e3.5", QuantityError::Format),
        ("1Gb", QuantityError::Format),
        ("\u{664}", QuantityError::Format),
        ("--1", QuantityError::Suffix),
        ("1ki", QuantityError::Suffix),
        ("1K", QuantityError::Suffix),
        ("1mi", QuantityError::Suffix),
        ("1e", QuantityError::Suffix),
        ("1k5", QuantityError::Suffix),
        ("1e99999999999999999999", QuantityError::Suffix),
        ("Ei", QuantityError::Number),
        (".Ei", QuantityError::Number),
    ] {
        assert_eq!(Quantity::parse(text), Err(error), "{text}");
    }
    assert_eq!(QuantityError::Suffix.to_string(), "unable to parse quantity's suffix");
}

#[test]
fn amounts_finer_than_a_billionth_are_rounded_away_from_zero() {
    assert_eq!(quantity("0.1n"), quantity("1n"));
    assert_eq!(quantity("-0.1n"), quantity("-1n"));
    assert_eq!(quantity("1e-400"), quantity("1n"));
    assert_eq!(quantity("0.00000000000000000000000000001Ki"), quantity("1n"));
    assert_eq!(quantity("1.0000000001"), quantity("1000000001n"));
    assert!(quantity("1n") < quantity("1.5n"));
}

#[test]
fn binary_amounts_are_capped_and_decimal_ones_are_not() {
    assert_eq!(quantity("8Ei").value(), i64::MAX);
    assert_eq!(quantity("16Ei").value(), i64::MAX);
    assert_eq!(quantity("-16Ei"), quantity("-9223372036854775807"));
    assert_eq!(quantity("16Ei"), quantity("9223372036854775807"));
    assert!(quantity("10E") > quantity("16Ei"));
}

#[test]
fn overflow_has_the_result_of_kubernetes() {
    // A short amount that does not fit is 0 or wraps, depending on its power of ten; a long one wraps.
    assert_eq!(quantity("10E").value(), 0);
    assert_eq!(quantity("1e100").value(), 0);
    assert_eq!(quantity("9e15").milli_value(), 9_000_000_000_000_000_000);
    assert_eq!(quantity("9223372036854775807").value(), i64::MAX);
    assert_eq!(quantity("9223372036854775807").milli_value(), -1000);
    assert_eq!(quantity("18446744073709551617").value(), 1);
    assert_eq!(quantity("1e4294967296").value(), 1, "an exponent has 32 bits");
    let mut sum = quantity("1e19");
    sum.add(quantity("1e9"));
    assert_eq!(sum.value(), 10_000_000_001_i64.wrapping_mul(1_000_000_000));
    let mut sum = quantity("1e19");
    sum.add(quantity("1e8"));
    assert_eq!(sum.value(), 0);
    let mut sum = quantity("9E");
    sum.add(quantity("9E"));
    assert_eq!(sum.value(), 0);
    let mut sum = quantity("8Ei");
    sum.add(quantity("8Ei"));
    assert_eq!(sum.value(), -2);
    let mut sum = Quantity::from_units(i64::MAX);
    sum.add(Quantity::from_units(1));
    assert_eq!(sum.value(), i64::MIN);
    assert!(sum > Quantity::from_units(i64::MAX));
}

#[test]
fn negative_long_amounts_are_rounded_as_kubernetes_does() {
    // Kubernetes drops the upper bits, truncates, then adds one.
    assert_eq!(quantity("-16Ei").value(), 1);
    assert_eq!(quantity("-1.00000000000000000001").value(), 0);
    assert_eq!(quantity("-2.50000000000000000000").value(), -1);
}

#[test]
fn sums_are_rounded_once() {
    let mut sum = quantity("0.5m");
    sum.add(quantity("0.5m"));
    assert_eq!(sum.milli_value(), 1);
    sum.add(quantity("1Ki"));
    assert_eq!(sum, quantity("1024.001"));
    sum.add(quantity("0.1n"));
    assert_eq!(sum.milli_value(), 1_024_002);
    assert_eq!(sum.value(), 1025);
}

#[test]
fn raise_to_keeps_the_larger_quantity() {
    let mut largest = quantity("1Gi");
    largest.raise_to(quantity("1G"));
    assert_eq!(largest, quantity("1Gi"));
    largest.raise_to(quantity("1.1Gi"));
    assert_eq!(largest, quantity("1.1Gi"));
    // In the short representation, this amount would overflow to 0; in the long one, it wraps.
    largest.raise_to(quantity("10E"));
    assert_eq!(largest.value(), 10_000_000_000_000_000_000_u64 as i64);
}

#[test]
fn quantities_are_ordered_by_value() {
    let ascending = [
        "-1e50", "-16Ei", "-1", "-1m", "-1n", "0", "1n", "1m", "1", "1000001u", "1k", "1Ki", "1E", "16Ei", "10E",
        "1e50",
    ];
    for (i, a) in ascending.iter().enumerate() {
        for (j, b) in ascending.iter().enumerate() {
            assert_eq!(quantity(a).cmp(&quantity(b)), i.cmp(&j), "{a} and {b}");
        }
    }
}

#[test]
fn display_is_exact_and_short() {
    for (text, displayed) in [
        ("0", "0"),
        ("1.5", "1500m"),
        ("2000", "2k"),
        ("1Ki", "1024"),
        ("1.1Ki", "1126400m"),
        ("-3e10", "-30G"),
        ("100e4", "1M"),
        ("1e20", "100e18"),
        ("5E", "5e18"),
        ("0.1n", "1n"),
        ("1e-3", "1m"),
    ] {
        assert_eq!(quantity(text).to_string(), displayed, "{text}");
    }
}

#[test]
fn differences_are_exact() {
    for (a, b, expected) in [
        ("1", "500m", "500m"),
        ("1Gi", "1Mi", "1023Mi"),
        ("1", "2", "-1"),
        ("0", "1n", "-1n"),
        ("-9223372036854775807", "1", "-9223372036854775808"),
        ("0", "-9223372036854775807", "9223372036854775807"),
    ] {
        let mut difference = quantity(a);
        difference.sub(quantity(b));
        assert_eq!(difference, quantity(expected), "{a} - {b}");
    }
}

#[test]
fn as_i64_does_not_reduce_fractions() {
    for (text, expected) in [
        ("50k", Some(50_000)),
        ("1Gi", Some(1 << 30)),
        ("-3", Some(-3)),
        ("1500m", None),
        ("1000m", None),
        ("1e30", None),
    ] {
        assert_eq!(quantity(text).as_i64(), expected, "{text}");
    }
}

#[test]
fn as_f64_is_close_to_the_amount() {
    for (text, expected) in [("1500m", 1.5), ("1Ki", 1024.0), ("-2", -2.0), ("1e20", 1e20), ("0", 0.0)] {
        let actual = quantity(text).as_f64();
        assert!((actual - expected).abs() <= expected.abs() * 1e-15, "{text}: {actual}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(
        text in "[-+]?[0-9.]{0,45}[eEinumkKMGTP]{0,2}[-+]?[0-9]{0,12}",
        other in any::<String>(),
    ) {
        for text in [&text, &other] {
            if let Ok(parsed) = Quantity::parse(text) {
                let mut sum = parsed;
                sum.add(parsed);
                sum.raise_to(quantity("16Ei"));
                prop_assert!(sum >= parsed || parsed.is_negative() || parsed.value() == sum.value());
                let _ = (sum.value(), sum.milli_value());
                prop_assert_eq!(quantity(&parsed.to_string()), parsed);
            }
        }
    }

    #[test]
    fn milli_values_survive_parsing(milli in -1_000_000_000_000_i64..1_000_000_000_000) {
        prop_assert_eq!(quantity(&format!("{milli}m")).milli_value(), milli);
        let spelled = format!("{}{}.{:03}", if milli < 0 { "-" } else { "" }, milli.abs() / 1000, milli.abs() % 1000);
        prop_assert_eq!(quantity(&spelled), Quantity::from_milli(milli));
    }

    #[test]
    fn long_and_short_spellings_are_one_amount(nano in any::<u32>(), units in any::<u32>()) {
        let plain = format!("{units}.{nano:010}");
        let padded = format!("000{plain}0000000000000000000000");
        prop_assert_eq!(quantity(&plain), quantity(&padded));
        prop_assert_eq!(quantity(&plain).value(), quantity(&padded).value());
    }

    #[test]
    fn adding_commutes_and_matches_whole_numbers(a in 0..i64::MAX / 4, b in 0..i64::MAX / 4, by in 0_u32..9) {
        let sum = |x: Quantity, y: Quantity| { let mut sum = x; sum.add(y); sum };
        let (x, y) = (Quantity::from_units(a), quantity(&format!("{b}e-{by}")));
        prop_assert_eq!(sum(x, y), sum(y, x));
        let expected = i128::from(a) + (i128::from(b) + 10_i128.pow(by) - 1).div_euclid(10_i128.pow(by));
        prop_assert_eq!(i128::from(sum(x, y).value()), expected);
    }
}
