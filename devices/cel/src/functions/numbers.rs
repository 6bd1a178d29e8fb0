//! Text of floating-point numbers as Go writes it.

/// Returns the shortest text that reads as the same number: plain for exponents from -4 to 5 (`%g`), else scientific.
pub(super) fn general(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let exponent = scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    if (-4..6).contains(&exponent) { value.to_string() } else { go_exponent(&scientific) }
}

/// Writes the exponent of a scientific number with a sign and at least two digits, as Go does.
pub(super) fn go_exponent(text: &str) -> String {
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            let (sign, exponent) = match exponent.strip_prefix('-') {
                Some(exponent) => ('-', exponent),
                None => ('+', exponent),
            };
            format!("{mantissa}e{sign}{exponent:0>2}")
        }
        None => text.to_owned(),
    }
}
