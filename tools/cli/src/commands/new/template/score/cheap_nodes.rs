//! A score with a column, arguments and normalisation.

use schedc_core::prelude::*;

/// Prefers nodes with a low price. The fields are the arguments: `[args.CheapNodes]` in a profile.
#[derive(Clone, Copy, Args)]
pub struct CheapNodes {
    /// Label with the price of a node, such as `0.25`.
    #[args(default = "example.com/price", format = "qualified-name")]
    label: &'static str,
    /// Price of nodes without the label, in thousandths.
    #[args(default = 1000, range = 0..=1_000_000)]
    default_thousandths: i64,
}

#[plugin]
impl SimpleScore for CheapNodes {
    type Columns = WithArgs<NodePrice>;
    /// The cheapest feasible node gets the highest score.
    type Normalization = ReversedNormalization;

    fn score(&self, _: &(), node: &NodePrice) -> i64 {
        node.thousandths
    }
}

/// Column with the price of each node. An entry is computed when its node is added or updated, so Score only
/// reads a number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodePrice {
    thousandths: i64,
}

impl ColumnWithArgs for NodePrice {
    type Args = CheapNodes;
    /// Pods do not affect the price of their node.
    const READS_ONLY_NODE: bool = true;

    fn build(args: &CheapNodes, node: &Node, interner: &Interner) -> Self {
        let label = interner.get(args.label).and_then(|label| node.labels.value(label));
        let price = label.and_then(|value| thousandths(interner.resolve(value)));
        NodePrice { thousandths: price.unwrap_or(args.default_thousandths) }
    }
}

fn thousandths(text: &str) -> Option<i64> {
    let price: f64 = text.parse().ok()?;
    (0.0..=1e6).contains(&price).then(|| (price * 1000.0).round() as i64)
}
