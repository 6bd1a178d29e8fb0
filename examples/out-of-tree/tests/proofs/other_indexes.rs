extern crate self as mine;

include!("plugin.txt");
include!("other_indexes.txt");

fn main() {}
