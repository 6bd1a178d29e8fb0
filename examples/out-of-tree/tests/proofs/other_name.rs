extern crate self as mine;

include!("plugin.txt");
include!("other_name.txt");

fn main() {}
