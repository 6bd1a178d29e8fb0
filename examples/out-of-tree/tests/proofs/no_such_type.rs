extern crate self as mine;

include!("plugin.txt");
include!("no_such_type.txt");

fn main() {}
