extern crate self as mine;

include!("plugin.txt");
include!("unimplemented.txt");

fn main() {}
