//! `#[plugin]`: the items that it adds, and the plugins that it makes of `SimpleFilter` and `SimpleScore`.

use std::any::TypeId;

use schedc_core::args::Schema;
use schedc_core::prelude::*;

#[derive(Default)]
struct Minimal;

#[plugin]
impl Plugin for Minimal {}

#[derive(Default)]
struct Counter {
    start: i64,
}

#[plugin]
impl Plugin for Counter {
    const NAME: &'static str = "CounterOfPods";
    type Args = CounterArgs;

    fn new(args: &'static CounterArgs, _: &Handle) -> Result<Self, String> {
        Ok(Counter { start: args.start })
    }
}

#[derive(Clone, Copy, Args)]
struct CounterArgs {
    #[args(default = 3)]
    start: i64,
}

#[derive(Clone, Copy, Args)]
struct Pinned {
    #[args(default = "pinned")]
    label: &'static str,
}

#[plugin]
impl SimpleFilter for Pinned {
    type Pod = Symbol;

    fn read(&self, _: &PodSpec, interner: &mut Interner) -> Symbol {
        interner.intern(self.label)
    }

    fn filter(&self, label: &Symbol, node: &NodeInfo) -> Result<(), &'static str> {
        node.label(*label).map(|_| ()).ok_or("node(s) were not pinned")
    }
}

/// Defines a plugin that scores a node by its number of pods.
macro_rules! score {
    ($name:ident $(, $normalization:ty)?) => {
        #[derive(Clone, Copy, Args)]
        struct $name;

        #[plugin]
        impl SimpleScore for $name {
            $(type Normalization = $normalization;)?

            fn score(&self, _: &(), node: &NodeInfo) -> i64 {
                node.pods.len() as i64
            }
        }
    };
}

score!(Plain);
score!(More, DefaultNormalization);
score!(Fewer, ReversedNormalization);

#[derive(Clone, Copy, Args)]
struct ByPosition;

#[plugin]
impl SimpleScore for ByPosition {
    type Columns = Position;

    fn score(&self, _: &(), node: NodeIndex) -> i64 {
        node.get() as i64
    }
}

fn is_same_type<A: 'static, B: 'static>() -> bool {
    TypeId::of::<A>() == TypeId::of::<B>()
}

#[test]
fn a_plugin_without_items_has_the_name_of_its_type_and_reads_nothing() {
    assert_eq!(Minimal::NAME, "Minimal");
    assert!(is_same_type::<<Minimal as Plugin>::Args, NoArgs>());
    assert!(is_same_type::<<Minimal as Plugin>::Columns, ()>());
    assert!(is_same_type::<<Minimal as Plugin>::Pod, ()>());
}

#[test]
fn written_items_have_precedence() {
    assert_eq!(Counter::NAME, "CounterOfPods");
    assert!(is_same_type::<<Counter as Plugin>::Args, CounterArgs>());
    assert_eq!(Counter::new(&CounterArgs::DEFAULT, &Handle::default()).map(|counter| counter.start), Ok(3));
}

#[test]
fn the_fields_of_a_simple_plugin_are_its_arguments() {
    assert_eq!(Pinned::NAME, "Pinned");
    assert!(is_same_type::<<Pinned as Plugin>::Args, Pinned>());
    assert_eq!(Pinned::DEFAULT.label, "pinned");
    assert_eq!(Plain::SCHEMA, Schema::Table(&[]));
    let mut interner = Interner::default();
    let label = interner.intern("pinned");
    assert!(Pinned::DEFAULT.filter(&label, &NodeInfo::default()).is_err());
}

#[test]
fn simple_scores_are_unnormalized_normalized_or_reversed() {
    let extent = Extent { max: 4, min: 0 };
    assert_eq!([0, 1, 4].map(|raw| More::normalize(&More, extent, raw)), [0, 25, 100]);
    assert_eq!([0, 1, 4].map(|raw| Fewer::normalize(&Fewer, extent, raw)), [100, 75, 0]);
    let node = NodeInfo::default();
    assert_eq!(<Plain as ScorePlugin>::score(&Plain, &(), &(), &node), Ok(0));
    let listed = schedc_core::implemented!(Plain).iter().find(|(point, _)| *point == "normalizes");
    assert_eq!(listed, Some(&("normalizes", false)));
}

#[test]
fn a_simple_plugin_can_read_other_columns() {
    assert_eq!(<ByPosition as ScorePlugin>::score(&ByPosition, &(), &(), NodeIndex(2)), Ok(2));
}
