extern crate self as mine;

include!("custom_plugin.txt");
include!("unwatched.txt");

fn main() {}
