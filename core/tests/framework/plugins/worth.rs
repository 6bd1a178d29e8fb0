//! A filter and a score from a column that depends on the arguments of its plugin.

use schedc_core::prelude::*;

/// The arguments of [`Worth`].
#[derive(Clone, Copy, Args)]
pub struct WorthArgs {
    /// The label with the worth of a node.
    #[args(default = "gold", format = "qualified-name")]
    pub label: &'static str,
    /// Worth that each pod on the node takes.
    #[args(default = 1, range = 0..=100)]
    pub worth_of_pod: i64,
    /// The label of pods that take nothing.
    #[args(default = "free", format = "qualified-name")]
    pub free: &'static str,
}

/// The worth of a node: the value of a label, minus the worth that its pods take.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeWorth {
    pub left: i64,
    free: Option<Symbol>,
}

impl NodeWorth {
    fn taken_by(&self, args: &WorthArgs, pod: &Pod) -> i64 {
        let is_free = self.free.is_some_and(|free| pod.spec.labels.value(free).is_some());
        if is_free { 0 } else { args.worth_of_pod }
    }
}

impl ColumnWithArgs for NodeWorth {
    type Args = WorthArgs;

    fn begin(args: &WorthArgs, interner: &mut Interner) {
        interner.intern(args.free);
    }
    fn build(args: &WorthArgs, node: &Node, interner: &Interner) -> Self {
        let value = interner.get(args.label).and_then(|label| node.labels.value(label));
        let left = value.and_then(|value| label_integer(interner, value)).unwrap_or_default();
        NodeWorth { left, free: interner.get(args.free) }
    }
    fn add_pod(&mut self, args: &WorthArgs, pod: &Pod) {
        self.left -= self.taken_by(args, pod);
    }
    fn remove_pod(&mut self, args: &WorthArgs, pod: &Pod) {
        self.left += self.taken_by(args, pod);
    }
}

/// Prefers nodes of great worth, and rejects nodes without worth.
#[derive(Default)]
pub struct Worth;

#[plugin]
impl Plugin for Worth {
    type Args = WorthArgs;
    type Columns = WithArgs<NodeWorth>;
}

impl FilterPlugin for Worth {
    type Cycle = ();
    type Rejection = ();

    fn filter(_: &WorthArgs, (): &(), (): &(), node: &NodeWorth) -> Result<(), ()> {
        if node.left > 0 { Ok(()) } else { Err(()) }
    }
    fn code((): &()) -> Code {
        Code::Unschedulable
    }
    fn explain(args: &WorthArgs, (): &(), (): &(), _: &NodeWorth, (): (), out: &mut Reasons<'_>) {
        out.push(format!("node(s) had no {} left", args.label));
    }
}

impl ScorePlugin for Worth {
    type Cycle = ();

    fn score(_: &WorthArgs, (): &(), (): &(), node: &NodeWorth) -> Result<i64, ScoreError> {
        Ok(node.left)
    }
}
