extern crate self as mine;

include!("plugin.txt");
include!("unlisted.txt");

fn main() {}
