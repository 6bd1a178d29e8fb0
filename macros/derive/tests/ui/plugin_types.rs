//! Errors of a plugin author that rustc finds: missing derives, and a missing `#[plugin]`.

use schedc_core::prelude::*;

struct WithoutDefault;

#[plugin]
impl Plugin for WithoutDefault {}

#[derive(Default)]
struct WithoutArgs;

#[plugin]
impl SimpleFilter for WithoutArgs {
    fn filter(&self, _: &(), _: &NodeInfo) -> Result<(), &'static str> {
        Ok(())
    }
}

#[derive(Clone, Copy, Args)]
struct WithoutAttribute;

impl SimpleFilter for WithoutAttribute {
    type Pod = ();
    type Columns = NodeInfo;

    fn read(&self, _: &PodSpec, _: &mut Interner) {}

    fn filter(&self, _: &(), _: &NodeInfo) -> Result<(), &'static str> {
        Ok(())
    }
}

const fn is_filter<P: FilterPlugin>() {}
const _: () = is_filter::<WithoutAttribute>();

fn main() {}
