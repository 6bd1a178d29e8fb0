//! Amounts of resources: millicores of cpu, and whole units of other resources.

use k8s_openapi::apimachinery::pkg::api::resource::Quantity as ApiQuantity;
use schedc_core::quantity::Quantity;

/// Returns the amount of a quantity, or 0 if it is invalid.
pub(super) fn amount(resource: &str, quantity: &ApiQuantity) -> i64 {
    let Ok(quantity) = Quantity::parse(&quantity.0) else { return 0 };
    if resource == "cpu" { quantity.milli_value() } else { quantity.value() }
}

/// Returns the shortest exact quantity of an amount.
pub(super) fn text(resource: &str, amount: i64) -> String {
    let is_binary = matches!(resource, "memory" | "ephemeral-storage") || resource.starts_with("hugepages-");
    match resource {
        "cpu" if amount % 1000 == 0 => (amount / 1000).to_string(),
        "cpu" => format!("{amount}m"),
        _ if is_binary && amount > 0 => {
            let suffixes = ["", "Ki", "Mi", "Gi", "Ti"];
            let power = (amount.trailing_zeros() as usize / 10).min(suffixes.len() - 1);
            format!("{}{}", amount >> (10 * power), suffixes[power])
        }
        _ => amount.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_amounts_are_exact() {
        let check = |resource: &str, value: i64, expected: &str| {
            assert_eq!(text(resource, value), expected);
            assert_eq!(amount(resource, &ApiQuantity(expected.to_owned())), value);
        };
        check("cpu", 2000, "2");
        check("cpu", 1999, "1999m");
        check("memory", 3 << 29, "1536Mi");
        check("memory", (1 << 30) + 1, "1073741825");
        check("memory", 0, "0");
        check("example.com/gpu", 1024, "1024");
    }
}
