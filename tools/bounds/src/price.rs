//! Prices of nodes in manifests and flags.

use std::fmt;

use crate::text::shortened;

/// The highest price.
const MAX_PRICE: f64 = 1e9;

/// The reason why a text is no price.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidPrice {
    /// It is not a number.
    NotANumber(String),
    /// It is a number, but not one from 0 to the highest price.
    OutOfRange(String),
}

impl fmt::Display for InvalidPrice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidPrice::NotANumber(text) => write!(f, "`{text}` is not a number such as 0.42"),
            InvalidPrice::OutOfRange(text) => write!(f, "`{text}` is not a price from 0 to 1,000,000,000"),
        }
    }
}

impl std::error::Error for InvalidPrice {}

/// Parses a price in any currency.
///
/// # Errors
/// Returns an error if the text is not a number from 0 to 1,000,000,000.
pub fn parse_price(text: &str) -> Result<f64, InvalidPrice> {
    let shortened = || shortened(text, 100).to_string();
    let price: f64 = text.parse().map_err(|_| InvalidPrice::NotANumber(shortened()))?;
    match (0.0..=MAX_PRICE).contains(&price) {
        true => Ok(price),
        false => Err(InvalidPrice::OutOfRange(shortened())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_numbers_in_a_range() {
        let parse = |text| parse_price(text).map_err(|error| error.to_string());
        assert_eq!(parse("0.42"), Ok(0.42));
        assert_eq!(parse("0"), Ok(0.0));
        assert_eq!(parse("1e9"), Ok(1e9));
        assert_eq!(parse("cheap"), Err("`cheap` is not a number such as 0.42".to_owned()));
        for text in ["-0.1", "inf", "NaN", "1e10"] {
            assert_eq!(parse(text), Err(format!("`{text}` is not a price from 0 to 1,000,000,000")));
        }
    }
}
