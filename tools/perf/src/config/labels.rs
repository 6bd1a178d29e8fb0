//! Selection of workloads by labels.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// Labels that workloads must or must not have, such as `performance,-short`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(String);

impl FromStr for Labels {
    type Err = Infallible;
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Labels(text.to_owned()))
    }
}

impl fmt::Display for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Labels {
    /// Returns whether workloads with these labels are selected: they have all labels that are listed without a sign or
    /// with `+`, and none that is listed with `-`.
    pub fn admit<'a>(&self, labels: impl Iterator<Item = &'a str> + Clone) -> bool {
        self.0.split(',').map(str::trim).filter(|label| !label.is_empty()).all(|label| {
            let (wanted, label) = match label.strip_prefix('-') {
                Some(label) => (false, label),
                None => (true, label.strip_prefix('+').unwrap_or(label)),
            };
            labels.clone().any(|own| own == label) == wanted
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Labels;

    #[test]
    fn labels_select_and_exclude_workloads() {
        let rows = [
            ("", true),
            ("performance", true),
            ("+performance", true),
            ("performance,short", true),
            ("performance, -slow", true),
            ("-performance", false),
            ("performance,-short", false),
            ("integration-test,performance", false),
        ];
        for (labels, expected) in rows {
            let labels: Labels = labels.parse().unwrap_or_default();
            assert_eq!(labels.admit(["performance", "short"].into_iter()), expected, "{labels}");
        }
    }
}
