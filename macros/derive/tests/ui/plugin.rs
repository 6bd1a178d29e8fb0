//! Errors of a plugin author with `#[plugin]`.

use schedc_core::prelude::*;

#[plugin]
struct NotAnImpl;

struct Inherent;

#[plugin]
impl Inherent {}

#[derive(Default)]
struct Filter;

#[plugin]
impl FilterPlugin for Filter {}

#[derive(Default)]
struct Arguments;

#[plugin(name = "Other")]
impl Plugin for Arguments {}

#[derive(Default)]
struct PodWithoutCompile;

#[plugin]
impl Plugin for PodWithoutCompile {
    type Pod = bool;
}

#[derive(Default)]
struct CompileWithoutPod;

#[plugin]
impl Plugin for CompileWithoutPod {
    fn compile(_: &NoArgs, pod: &PodSpec, _: CompileContext<'_, Self>) -> bool {
        pod.priority > 0
    }
}

#[derive(Clone, Copy, Args)]
struct PodWithoutRead;

#[plugin]
impl SimpleScore for PodWithoutRead {
    type Pod = Symbol;

    fn score(&self, _: &Symbol, node: &NodeInfo) -> i64 {
        node.pods.len() as i64
    }
}

#[derive(Clone, Copy, Args)]
struct WithArgsType;

#[plugin]
impl SimpleFilter for WithArgsType {
    type Args = NoArgs;

    fn filter(&self, _: &(), _: &NodeInfo) -> Result<(), &'static str> {
        Ok(())
    }
}

#[derive(Clone, Copy, Args)]
struct Named;

#[plugin]
impl SimpleFilter for Named {
    const NAME: &'static str = "AnotherName";

    fn filter(&self, _: &(), _: &NodeInfo) -> Result<(), &'static str> {
        Ok(())
    }
}

#[derive(Clone, Copy, Args)]
struct WithIndex;

#[plugin]
impl SimpleFilter for WithIndex {
    type Indexes = ();

    fn filter(&self, _: &(), _: &NodeInfo) -> Result<(), &'static str> {
        Ok(())
    }
}

fn main() {}
