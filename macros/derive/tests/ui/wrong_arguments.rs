//! Wrong arguments in a profile: the error has the locations in the profile.

use schedc_core::args::{Args, List, Node, Value};

#[derive(Clone, Copy, Args)]
pub struct FitArgs {
    pub strategy: Strategy,
    #[args(default = 1, range = 1..=100)]
    pub weight: i64,
    #[args(format = "qualified-name")]
    pub ignored_resources: List<&'static str, 8>,
}

#[derive(Clone, Copy, Args)]
pub enum Strategy {
    #[args(default)]
    LeastAllocated,
    MostAllocated,
}

const fn at(line: u32, column: u32, value: Value) -> Node {
    Node { file: "profiles/edge.toml", line, column, value }
}

const ARGS: FitArgs = FitArgs::decode(&at(
    7,
    1,
    Value::Table(&[
        ("strategy", at(8, 12, Value::Str("Least"))),
        ("weight", at(9, 10, Value::Int(1000))),
        ("wieght", at(10, 10, Value::Int(3))),
        ("ignored-resources", at(11, 21, Value::List(&[at(11, 22, Value::Str("not a name"))]))),
    ]),
));

fn main() {
    let _ = ARGS;
}
