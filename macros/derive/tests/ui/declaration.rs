//! Errors of a plugin author in the declaration of arguments.

use schedc_core::args::{Args, List, Seq};

#[derive(Args)]
struct Tuple(i64);

#[derive(Args)]
struct Generic<T> {
    value: Option<T>,
}

#[derive(Args)]
enum Holds {
    Value(i64),
}

#[derive(Args)]
struct Types {
    #[args(required)]
    float: f64,
    #[args(required)]
    unsigned: u32,
    #[args(required)]
    owned: String,
    #[args(required)]
    vector: Vec<i64>,
    nested: Seq<List<i64, 3>>,
    twice: Option<Option<i64>>,
}

#[derive(Args)]
struct Attributes {
    no_default: i64,
    #[args(defualt = 1)]
    misspelled: i64,
    #[args(required, default = 1)]
    both: i64,
    #[args(default = 0, range = 1..=100)]
    outside: i64,
    #[args(default = 0, range = 1..100)]
    open: i64,
    #[args(default = "", range = 1..=3)]
    text: &'static str,
    #[args(default = "", format = "hostname")]
    format: &'static str,
    #[args(default = 1, min = 1)]
    integer: i64,
    #[args(unique = "name")]
    scalars: List<i64, 3>,
    #[args(min = 1)]
    not_empty: List<i64, 3>,
}

#[derive(Args)]
struct Same {
    #[args(default = 1)]
    node_weight: i64,
    #[args(default = 1, rename = "node-weight")]
    renamed: i64,
}

fn main() {}
