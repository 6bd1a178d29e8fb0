extern crate self as mine;

include!("plugin.txt");
include!("other_columns.txt");

fn main() {}
