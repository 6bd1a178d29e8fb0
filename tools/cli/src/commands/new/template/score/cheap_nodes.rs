//! A score with a column, arguments and normalisation.

use schedc_core::prelude::*;

/// Arguments of the plugin: `[args.CheapNodes]` in a profile.
#[derive(Clone, Copy, Args)]
pub struct CheapNodesArgs {
    /// Label with the price of a node, such as `0.25`.
    #[args(default = "example.com/price", format = "qualified-name")]
    pub label: &'static str,
    /// Price of nodes without the label, in thousandths.
    #[args(default = 1000, range = 0..=1_000_000)]
    pub default_thousandths: i64,
}

/// Prefers nodes with a low price.
pub struct CheapNodes;

/// Column with the price of each node. An entry is computed when its node is added or updated, so Score only
/// reads a number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodePrice {
    thousandths: i64,
}

impl ColumnWithArgs for NodePrice {
    type Args = CheapNodesArgs;
    /// Pods do not affect the price of their node.
    const READS_ONLY_NODE: bool = true;

    fn build(args: &CheapNodesArgs, node: &Node, interner: &Interner) -> Self {
        let label = interner.get(args.label).and_then(|label| node.labels.value(label));
        let price = label.and_then(|value| thousandths(interner.resolve(value)));
        NodePrice { thousandths: price.unwrap_or(args.default_thousandths) }
    }
}

fn thousandths(text: &str) -> Option<i64> {
    let price: f64 = text.parse().ok()?;
    (0.0..=1e6).contains(&price).then(|| (price * 1000.0).round() as i64)
}

impl Plugin for CheapNodes {
    const NAME: &'static str = "CheapNodes";
    type Args = CheapNodesArgs;
    type Columns = WithArgs<NodePrice>;
    type Indexes = ();
    type Reads = ();
    /// Data of a pod: none.
    type Pod = ();

    fn new(_: &'static CheapNodesArgs, _: &Handle) -> Result<Self, String> {
        Ok(CheapNodes)
    }

    fn compile(_: &CheapNodesArgs, _: &PodSpec, _: CompileContext<'_, Self>) {}
}

impl ScorePlugin for CheapNodes {
    type Cycle = ();

    /// Returns the raw score: any number, because the plugin normalises.
    #[inline]
    fn score(_: &CheapNodesArgs, _: &(), _: &(), node: &NodePrice) -> Result<i64, ScoreError> {
        Ok(node.thousandths)
    }
}

impl NormalizeScore for CheapNodes {
    /// Maps the cheapest feasible node to 100 and the most expensive one to 0.
    #[inline]
    fn normalize(_: &CheapNodesArgs, extent: Extent, raw: i64) -> i64 {
        if extent.max == extent.min {
            return MAX_NODE_SCORE;
        }
        MAX_NODE_SCORE * (extent.max - raw) / (extent.max - extent.min)
    }
}
