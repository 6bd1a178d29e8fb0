//! Explanations of invalid quantities.

use schedc_core::quantity::Quantity;

/// Returns the problem of a quantity in terms of the user's text. `None`: it is valid.
pub fn problem(text: &str) -> Option<String> {
    Quantity::parse(text).err()?;
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Some("is empty, but must be a quantity such as `500m`, `2` or `1Gi`".to_owned());
    }
    let suggestion = suggestion(trimmed);
    if !suggestion.is_empty() {
        let suggestion: Vec<String> = suggestion.iter().map(|quantity| format!("`{quantity}`")).collect();
        return Some(format!("`{trimmed}` is not a quantity; did you mean {}?", suggestion.join(" or ")));
    }
    let (number, unit) = split(trimmed);
    Some(match (number.contains(|c: char| c.is_ascii_digit()), unit) {
        (false, _) => {
            format!("`{trimmed}` is not a quantity: it must begin with a number, as in `500m`, `2` or `1.5Gi`")
        }
        (true, "") => format!("`{trimmed}` is not a quantity: `{number}` is not a number"),
        (true, _) => format!("`{trimmed}` is not a quantity: there is no unit `{unit}`; {UNITS}"),
    })
}

const UNITS: &str = "decimal units are n, u, m, k, M, G, T, P and E, binary ones Ki, Mi, Gi, Ti, Pi and Ei";

/// Splits a text into the number at the beginning, and the rest.
fn split(text: &str) -> (&str, &str) {
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | ',' | '_');
    let end = text.find(|c: char| !is_number(c)).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (number, unit.trim_start())
}

/// Returns quantities that the user may have meant.
fn suggestion(text: &str) -> Vec<String> {
    let (number, unit) = split(text);
    let mut suggestion = Vec::new();
    for number in numbers(number) {
        for unit in units(unit) {
            let candidate = format!("{number}{unit}");
            if Quantity::parse(&candidate).is_ok() && !suggestion.contains(&candidate) {
                suggestion.push(candidate);
            }
        }
    }
    suggestion
}

/// Returns interpretations of a number with digit separators or a decimal comma.
fn numbers(number: &str) -> Vec<String> {
    let digits = number.replace('_', "");
    if !digits.contains(|c: char| c.is_ascii_digit()) {
        return Vec::new();
    }
    let Some((_, fraction)) = digits.rsplit_once(',') else { return vec![digits] };
    let (joined, decimal) = (digits.replace(',', ""), digits.replace(',', "."));
    match fraction.len() {
        3 => vec![joined, decimal],
        _ => vec![decimal],
    }
}

/// Returns the units that the user may have meant: only the unit itself if it is valid. Otherwise case and a suffix
/// such as `B` or `bytes` are ignored, and words such as `mega` or `cores` are replaced.
fn units(unit: &str) -> Vec<String> {
    if Quantity::parse(&format!("1{unit}")).is_ok() {
        return vec![unit.to_owned()];
    }
    let lower = unit.to_ascii_lowercase();
    let stem = ["bytes", "byte", "b"].iter().find_map(|bytes| lower.strip_suffix(bytes)).unwrap_or(&lower);
    let units: &[&str] = match stem {
        "" | "core" | "cores" | "cpu" | "cpus" => &[""],
        "millicore" | "millicores" | "millicpu" | "milli" => &["m"],
        "k" | "kilo" => &["k", "Ki"],
        "m" | "mega" => &["M", "Mi"],
        "g" | "giga" => &["G", "Gi"],
        "t" | "tera" => &["T", "Ti"],
        "p" | "peta" => &["P", "Pi"],
        "ki" | "kibi" => &["Ki"],
        "mi" | "mebi" => &["Mi"],
        "gi" | "gibi" => &["Gi"],
        "ti" | "tebi" => &["Ti"],
        "pi" | "pebi" => &["Pi"],
        "ei" | "exbi" => &["Ei"],
        _ => &[],
    };
    units.iter().map(|unit| (*unit).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::problem;

    #[test]
    fn quantities_have_no_problem() {
        for text in ["1", "500m", " 1Gi ", "1.5G", "1e3", "1E", "2E3", "-1", "+1k", "0"] {
            assert_eq!(problem(text), None, "{text}");
        }
    }

    #[test]
    fn problems_quote_the_text_and_suggest_a_quantity() {
        let texts = [
            "1GB",
            "1gb",
            "512MiB",
            "512mi",
            "64K",
            "10kB",
            "100B",
            "2cores",
            "250millicores",
            "1 Gi",
            "1,5Gi",
            "1,000",
            "1_000Mi",
            "1.2.3",
            "5x",
            "1GiBs",
            "ten",
            "Infinity",
            "",
            "--1",
            "1Gi2",
            "50%",
            "0x10",
            "1٣",
        ];
        let lines: Vec<String> = texts.iter().filter_map(|text| problem(text)).collect();
        assert_eq!(lines.len(), texts.len());
        expect![[r#"
            `1GB` is not a quantity; did you mean `1G` or `1Gi`?
            `1gb` is not a quantity; did you mean `1G` or `1Gi`?
            `512MiB` is not a quantity; did you mean `512Mi`?
            `512mi` is not a quantity; did you mean `512Mi`?
            `64K` is not a quantity; did you mean `64k` or `64Ki`?
            `10kB` is not a quantity; did you mean `10k` or `10Ki`?
            `100B` is not a quantity; did you mean `100`?
            `2cores` is not a quantity; did you mean `2`?
            `250millicores` is not a quantity; did you mean `250m`?
            `1 Gi` is not a quantity; did you mean `1Gi`?
            `1,5Gi` is not a quantity; did you mean `1.5Gi`?
            `1,000` is not a quantity; did you mean `1000` or `1.000`?
            `1_000Mi` is not a quantity; did you mean `1000Mi`?
            `1.2.3` is not a quantity: `1.2.3` is not a number
            `5x` is not a quantity: there is no unit `x`; decimal units are n, u, m, k, M, G, T, P and E, binary ones Ki, Mi, Gi, Ti, Pi and Ei
            `1GiBs` is not a quantity: there is no unit `GiBs`; decimal units are n, u, m, k, M, G, T, P and E, binary ones Ki, Mi, Gi, Ti, Pi and Ei
            `ten` is not a quantity: it must begin with a number, as in `500m`, `2` or `1.5Gi`
            `Infinity` is not a quantity: it must begin with a number, as in `500m`, `2` or `1.5Gi`
            is empty, but must be a quantity such as `500m`, `2` or `1Gi`
            `--1` is not a quantity: `--1` is not a number
            `1Gi2` is not a quantity: there is no unit `Gi2`; decimal units are n, u, m, k, M, G, T, P and E, binary ones Ki, Mi, Gi, Ti, Pi and Ei
            `50%` is not a quantity: there is no unit `%`; decimal units are n, u, m, k, M, G, T, P and E, binary ones Ki, Mi, Gi, Ti, Pi and Ei
            `0x10` is not a quantity: there is no unit `x10`; decimal units are n, u, m, k, M, G, T, P and E, binary ones Ki, Mi, Gi, Ti, Pi and Ei
            `1٣` is not a quantity: there is no unit `٣`; decimal units are n, u, m, k, M, G, T, P and E, binary ones Ki, Mi, Gi, Ti, Pi and Ei"#]].assert_eq(&lines.join("\n"));
    }
}
