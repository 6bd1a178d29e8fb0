extern crate self as mine;

include!("custom_plugin.txt");
include!("unheard.txt");

fn main() {}
