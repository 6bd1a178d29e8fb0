//! Evaluation of scenarios.

#[doc(inline)]
pub use schedc_evaluation::*;

#[cfg(test)]
pub(crate) mod tests {
    pub(crate) mod profiles {
        schedc_macros::profile!("../../profiles/default.toml", "../../profiles/edge.toml");
    }
}
