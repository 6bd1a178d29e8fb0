extern crate self as mine;

include!("custom_plugin.txt");
include!("unwatched_event.txt");

fn main() {}
