extern crate self as mine;

include!("plugin.txt");
include!("other_reads.txt");

fn main() {}
