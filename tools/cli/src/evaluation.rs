//! Evaluation of scenarios.

#[doc(inline)]
pub use schedc_evaluation::*;
