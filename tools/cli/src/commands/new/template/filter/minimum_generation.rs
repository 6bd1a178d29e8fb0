//! A filter with arguments, which reads a label with a number.

use schedc_core::prelude::*;
use schedc_plugins::columns::NodeLabels;

/// Arguments of the plugin: `[args.MinimumGeneration]` in a profile.
#[derive(Clone, Copy, Args)]
pub struct MinimumGenerationArgs {
    /// Label with the hardware generation. On a node: its generation. On a pod: the minimum generation that it
    /// needs.
    #[args(default = "example.com/generation", format = "qualified-name")]
    pub label: &'static str,
    /// Minimum generation for pods without the label.
    #[args(default = 0, range = 0..=1000)]
    pub pods_without_label: i64,
}

/// Rejects nodes with older hardware than a pod needs.
#[derive(Default)]
pub struct MinimumGeneration;

/// The pod data that the plugin reads. Pods with equal data share a cached answer.
#[derive(PartialEq, Eq, Hash)]
pub struct Needed {
    label: Symbol,
    generation: i64,
}

#[plugin]
impl Plugin for MinimumGeneration {
    type Args = MinimumGenerationArgs;
    /// `NodeLabels` has the labels of a node, and the integer values of numeric labels.
    type Columns = NodeLabels;
    type Pod = Needed;

    fn compile(args: &MinimumGenerationArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> Needed {
        let label = cx.interner.intern(args.label);
        let written = pod.labels.value(label).and_then(|value| label_integer(cx.interner, value));
        Needed { label, generation: written.unwrap_or(args.pods_without_label) }
    }
}

impl FilterPlugin for MinimumGeneration {
    type Cycle = ();
    /// Details of a rejection: none.
    type Rejection = ();

    #[inline]
    fn filter(_: &MinimumGenerationArgs, pod: &Needed, _: &(), node: &NodeLabels) -> Result<(), ()> {
        if node.integer(pod.label).unwrap_or(0) >= pod.generation { Ok(()) } else { Err(()) }
    }

    /// Excludes the node from preemption, which does not change the hardware.
    fn code(_: &()) -> Code {
        Code::UnschedulableAndUnresolvable
    }

    fn explain(_: &MinimumGenerationArgs, pod: &Needed, _: &(), _: &NodeLabels, _: (), out: &mut Reasons<'_>) {
        out.push(format!("node(s) were older than generation {}", pod.generation));
    }
}

/// Events that return a rejected pod to the queue. Without this implementation, every event returns it.
impl EnqueueExtensions for MinimumGeneration {
    const EVENTS: &'static [Registration] = &[
        Registration::hinted(EventResource::Node, Action::ADD.or(Action::UPDATE_NODE_LABEL)),
        Registration::hinted(EventResource::Pod, Action::UPDATE_POD_LABEL),
    ];

    fn queueing_hint(
        &self,
        args: &MinimumGenerationArgs,
        cx: HintContext<'_, Self>,
    ) -> Result<QueueingHint, HintError> {
        let HintContext { rejected, object, view } = cx;
        let interner = view.interner();
        let Some(label) = interner.get(args.label) else { return Ok(QueueingHint::Queue) };
        let needed = |pod: &Pod| {
            let written = pod.spec.labels.value(label).and_then(|value| label_integer(interner, value));
            written.unwrap_or(args.pods_without_label)
        };
        Ok(QueueingHint::queue_if(match object {
            EventObject::Node(_, Some(node)) => {
                let generation = node.labels.value(label).and_then(|value| label_integer(interner, value));
                generation.unwrap_or(0) >= needed(rejected)
            }
            EventObject::Pod(Some(old), Some(new)) => new.uid == rejected.uid && needed(&new) < needed(&old),
            _ => true,
        }))
    }
}
