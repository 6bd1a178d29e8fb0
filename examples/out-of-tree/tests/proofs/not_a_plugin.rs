extern crate self as mine;

include!("plugin.txt");

pub struct Plain;

include!("not_a_plugin.txt");

fn main() {}
