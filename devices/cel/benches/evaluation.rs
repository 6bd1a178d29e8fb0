//! Evaluation of one device, by kind of selector.
fn main() {}
