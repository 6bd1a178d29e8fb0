extern crate self as mine;

include!("plugin.txt");
include!("claims_everything.txt");

fn main() {}
