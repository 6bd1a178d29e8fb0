//! Filter that reads whole nodes: the node label `health: sick` causes an unresolvable rejection, `health: unknown` an
//! error.

use schedc_core::args::NoArgs;
use schedc_core::column::NodeInfo;
use schedc_core::extension_points::FilterPlugin;
use schedc_core::intern::Symbol;
use schedc_core::model::{LabelsExt, PodSpec};
use schedc_core::plugin::CompileContext;
use schedc_core::status::{Code, Reasons};
use schedc_core::{Plugin, plugin};

#[derive(Default)]
pub struct Health;

/// The label's key, and the values with which the filter compares.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Words {
    health: Symbol,
    sick: Symbol,
    unknown: Symbol,
}

#[derive(Clone, Copy)]
pub enum Problem {
    Sick,
    Unknown,
}

#[plugin]
impl Plugin for Health {
    type Columns = NodeInfo;
    type Pod = Words;

    fn compile(_: &NoArgs, _: &PodSpec, cx: CompileContext<'_, Self>) -> Words {
        let [health, sick, unknown] = ["health", "sick", "unknown"].map(|word| cx.interner.intern(word));
        Words { health, sick, unknown }
    }
}

impl FilterPlugin for Health {
    type Cycle = ();
    type Rejection = Problem;

    fn filter(_: &NoArgs, words: &Words, _: &(), node: &NodeInfo) -> Result<(), Problem> {
        match node.node.as_ref().and_then(|node| node.labels.value(words.health)) {
            Some(health) if health == words.sick => Err(Problem::Sick),
            Some(health) if health == words.unknown => Err(Problem::Unknown),
            _ => Ok(()),
        }
    }

    fn code(problem: &Problem) -> Code {
        match problem {
            Problem::Sick => Code::UnschedulableAndUnresolvable,
            Problem::Unknown => Code::Error,
        }
    }

    fn explain(_: &NoArgs, _: &Words, _: &(), _: &NodeInfo, problem: Problem, out: &mut Reasons<'_>) {
        out.push(match problem {
            Problem::Sick => "node(s) were sick",
            Problem::Unknown => "nothing is known of the node's health",
        });
    }
}
