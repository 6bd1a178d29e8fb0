//! State derived from the cluster and shared by all plugins and profiles that declare it. Columns have an entry for
//! each node; indexes are one value for the cluster.

use std::marker::PhantomData;

pub use crate::model::cache_size::CacheSize;
pub use crate::model::node_info::NodeInfo;

use crate::model::cache::Base;
use crate::model::growth;
use crate::model::intern::Interner;
use crate::model::{Node, NodeIndex, Object, Pod};

/// State derived from one node and its pods. The default value is the entry of a slot (a node index) without a node.
///
/// `add_pod` and `remove_pod` undo each other exactly: an updated entry equals a rebuilt one. They must not read a
/// pod's `nominated_node` and `started`: there is no notification if a pod on a node changes only in these.
pub trait Column: Clone + Default + PartialEq + Send + Sync + 'static {
    /// Whether an entry does not depend on pods: `add_pod` and `remove_pod` do nothing.
    const READS_ONLY_NODE: bool = false;

    /// Interns strings that entries compare, such as the key of a pod label. Called once, before any entry is built.
    ///
    /// Without it, [`Interner::get`] in `build` returns `None` if no earlier object has the string, although a later
    /// pod may have it.
    fn begin(_interner: &mut Interner) {}
    /// Returns the entry of a node without pods.
    fn build(node: &Node, interner: &Interner) -> Self;
    /// Adds a pod to the node.
    fn add_pod(&mut self, _pod: &Pod) {}
    /// Removes a pod from the node.
    fn remove_pod(&mut self, _pod: &Pod) {}
}

/// A column whose entries depend on the arguments of the plugin that declares it as [`WithArgs`].
///
/// Profiles with equal arguments share one column; others have one column each. The catalog declares such a column with
/// `{ path = "my_plugins::NodePrice", args = true }`. `add_pod` and `remove_pod` are as in [`Column`].
pub trait ColumnWithArgs: Clone + Default + PartialEq + Send + Sync + 'static {
    /// The arguments of the plugin: its [`Plugin::Args`](crate::Plugin::Args).
    type Args: Sync + 'static;
    /// Whether an entry does not depend on pods: `add_pod` and `remove_pod` do nothing.
    const READS_ONLY_NODE: bool = false;

    /// Interns strings that entries compare, as in [`Column::begin`]: for example a pod label in the arguments.
    fn begin(_args: &Self::Args, _interner: &mut Interner) {}
    /// Returns the entry of a node without pods.
    fn build(args: &Self::Args, node: &Node, interner: &Interner) -> Self;
    /// Adds a pod to the node.
    fn add_pod(&mut self, _args: &Self::Args, _pod: &Pod) {}
    /// Removes a pod from the node.
    fn remove_pod(&mut self, _args: &Self::Args, _pod: &Pod) {}
}

/// Wrapper of a [`ColumnWithArgs`] in a plugin's `Columns`; `filter` and `score` receive a reference to the column's
/// entry.
pub struct WithArgs<C>(PhantomData<fn() -> C>);

/// A node's entry in a column, for hypothetical changes: a reference to the cluster's entry until the first pod is
/// added or removed, then a copy.
#[derive(Clone, Debug)]
pub enum HypotheticalColumn<'a, C> {
    /// The cluster's entry.
    Unchanged(&'a C),
    /// A copy with other pods.
    Changed(C),
}

impl<C: Column> HypotheticalColumn<'_, C> {
    /// Adds a pod to the node.
    #[inline]
    pub fn add_pod(&mut self, pod: &Pod) {
        if !C::READS_ONLY_NODE {
            self.entry_mut().add_pod(pod);
        }
    }
    /// Removes a pod from the node.
    #[inline]
    pub fn remove_pod(&mut self, pod: &Pod) {
        if !C::READS_ONLY_NODE {
            self.entry_mut().remove_pod(pod);
        }
    }
}

impl<C: ColumnWithArgs> HypotheticalColumn<'_, C> {
    /// Adds a pod to the node.
    #[inline]
    pub fn add_pod_with(&mut self, args: &C::Args, pod: &Pod) {
        if !C::READS_ONLY_NODE {
            self.entry_mut().add_pod(args, pod);
        }
    }
    /// Removes a pod from the node.
    #[inline]
    pub fn remove_pod_with(&mut self, args: &C::Args, pod: &Pod) {
        if !C::READS_ONLY_NODE {
            self.entry_mut().remove_pod(args, pod);
        }
    }
}

impl<C: Clone> HypotheticalColumn<'_, C> {
    /// Returns the entry.
    #[inline]
    pub fn get(&self) -> &C {
        match self {
            HypotheticalColumn::Unchanged(entry) => entry,
            HypotheticalColumn::Changed(entry) => entry,
        }
    }

    fn entry_mut(&mut self) -> &mut C {
        if let HypotheticalColumn::Unchanged(entry) = *self {
            *self = HypotheticalColumn::Changed(entry.clone());
        }
        match self {
            HypotheticalColumn::Changed(entry) => entry,
            HypotheticalColumn::Unchanged(_) => unreachable!("it was copied"),
        }
    }
}

/// Data that a plugin's kernels (`filter` and `score`) read of a node: a [`Column`], [`WithArgs`], [`NodeInfo`],
/// [`Position`], or a tuple of them.
pub trait ColumnSet: 'static {
    /// Whether all columns are independent of pods: see [`Column::READS_ONLY_NODE`].
    const READS_ONLY_NODE: bool;
    /// The entries of one node.
    type Row<'a>: Copy;
    /// The entries of all nodes.
    type Slices<'a>: Copy;
    /// Returns the entries of the node at `index`.
    fn row<'a>(slices: Self::Slices<'a>, index: usize) -> Self::Row<'a>;
}

impl ColumnSet for () {
    const READS_ONLY_NODE: bool = true;
    type Row<'a> = ();
    type Slices<'a> = ();
    #[inline(always)]
    fn row<'a>(_: Self::Slices<'a>, _: usize) -> Self::Row<'a> {}
}

impl<C: Column> ColumnSet for C {
    const READS_ONLY_NODE: bool = C::READS_ONLY_NODE;
    type Row<'a> = &'a C;
    type Slices<'a> = &'a [C];
    #[inline(always)]
    fn row<'a>(slices: Self::Slices<'a>, index: usize) -> Self::Row<'a> {
        &slices[index]
    }
}

impl<C: ColumnWithArgs> ColumnSet for WithArgs<C> {
    const READS_ONLY_NODE: bool = C::READS_ONLY_NODE;
    type Row<'a> = &'a C;
    type Slices<'a> = &'a [C];
    #[inline(always)]
    fn row<'a>(slices: Self::Slices<'a>, index: usize) -> Self::Row<'a> {
        &slices[index]
    }
}

impl ColumnSet for NodeInfo {
    const READS_ONLY_NODE: bool = false;
    type Row<'a> = &'a NodeInfo;
    type Slices<'a> = &'a [NodeInfo];
    #[inline(always)]
    fn row<'a>(slices: Self::Slices<'a>, index: usize) -> Self::Row<'a> {
        &slices[index]
    }
}

/// The node's index, for cycle state with an entry for each node.
pub struct Position;

impl ColumnSet for Position {
    const READS_ONLY_NODE: bool = true;
    type Row<'a> = NodeIndex;
    /// The index of the first node.
    type Slices<'a> = NodeIndex;
    #[inline(always)]
    fn row<'a>(first: Self::Slices<'a>, index: usize) -> Self::Row<'a> {
        NodeIndex(first.0 + index as u32)
    }
}

/// Derives a slot's entry in a column again, and returns whether it changed. The column grows to the number of slots.
pub fn rebuild_entry<C: Column>(column: &mut Vec<C>, base: &Base, index: NodeIndex) -> bool {
    replace_entry(column, base, index, |info| {
        let Some(node) = &info.node else { return C::default() };
        let mut entry = C::build(node, &base.interner);
        info.pods.iter().for_each(|pod| entry.add_pod(pod));
        entry
    })
}

/// Derives an entry again, as [`rebuild_entry`] does, for a column that depends on arguments.
pub fn rebuild_entry_with_args<C: ColumnWithArgs>(
    column: &mut Vec<C>,
    args: &C::Args,
    base: &Base,
    index: NodeIndex,
) -> bool {
    replace_entry(column, base, index, |info| {
        let Some(node) = &info.node else { return C::default() };
        let mut entry = C::build(args, node, &base.interner);
        info.pods.iter().for_each(|pod| entry.add_pod(args, pod));
        entry
    })
}

fn replace_entry<C: Default + PartialEq>(
    column: &mut Vec<C>,
    base: &Base,
    index: NodeIndex,
    entry: impl FnOnce(&NodeInfo) -> C,
) -> bool {
    let infos = base.infos();
    growth::reserve(column, infos.len());
    column.resize_with(infos.len(), C::default);
    let entry = entry(&infos[index.get()]);
    let differs = column[index.get()] != entry;
    column[index.get()] = entry;
    differs
}

macro_rules! column_tuples {
    ($($($T:ident $n:tt),+;)*) => { $(
        impl<$($T: ColumnSet),+> ColumnSet for ($($T,)+) {
            const READS_ONLY_NODE: bool = $($T::READS_ONLY_NODE)&&+;
            type Row<'a> = ($($T::Row<'a>,)+);
            type Slices<'a> = ($($T::Slices<'a>,)+);
            #[inline(always)]
            fn row<'a>(slices: Self::Slices<'a>, index: usize) -> Self::Row<'a> {
                ($($T::row(slices.$n, index),)+)
            }
        }
    )* }
}
column_tuples! { A 0; A 0, B 1; A 0, B 1, C 2; A 0, B 1, C 2, D 3; A 0, B 1, C 2, D 3, E 4; A 0, B 1, C 2, D 3, E 4, F 5; }

/// State of the cluster as a whole. Kernels cannot read it; extension points that run once in a cycle can.
///
/// The symbols of a pod, a node or an object are valid only until it is removed. If a later object has equal strings,
/// they may get other symbols.
pub trait Index: Default + Send + Sync + 'static {
    /// The custom resources that the index reads, by their [`RESOURCE`](crate::custom::CustomResource::RESOURCE). A plugin
    /// that reads the index has to watch them.
    const CUSTOM: &'static [&'static str] = &[];

    /// Interns strings that the index compares, such as the key of a label. Called once, before all other methods.
    fn begin(&mut self, _interner: &mut Interner) {}
    /// Adds (`old` is `None`), changes, or removes (`new` is `None`) a node.
    fn set_node(&mut self, _index: NodeIndex, _old: Option<&Node>, _new: Option<&Node>) {}
    /// Adds a pod to a node. As in [`Column`], it must not read `nominated_node` and `started`.
    fn add_pod(&mut self, _index: NodeIndex, _pod: &Pod) {}
    /// Removes a pod from a node.
    fn remove_pod(&mut self, _index: NodeIndex, _pod: &Pod) {}
    /// Adds (`old` is `None`), changes, or removes (`new` is `None`) a pending pod. A pod is pending until it is bound
    /// or deleted; an assumed pod is still pending, although it has been added to its node already. Pods of other
    /// schedulers are not reported, and neither are the scheduler's own writes to a pod's status.
    fn set_pending(&mut self, _old: Option<&Pod>, _new: Option<&Pod>) {}
    /// Adds (`old` is `None`), changes, or removes (`new` is `None`) an object of another kind.
    fn set_object(&mut self, _old: Option<&Object>, _new: Option<&Object>) {}
    /// Returns the sizes of the index's caches, for metrics.
    fn cache_sizes(&self) -> Vec<CacheSize> {
        Vec::new()
    }
}

/// Indexes that a plugin reads: an [`Index`], or a tuple of them.
pub trait IndexSet: 'static {
    /// References for extension points that run once per scheduling cycle.
    type Refs<'a>: Copy;
    /// References for `compile`, which may register a pod's queries.
    type Muts<'a>;
    /// Whether the set is empty.
    const IS_EMPTY: bool = false;
    /// [`Index::CUSTOM`] of each index.
    const CUSTOM: &'static [&'static [&'static str]] = &[];
}

impl IndexSet for () {
    const IS_EMPTY: bool = true;
    type Refs<'a> = ();
    type Muts<'a> = ();
}

impl<I: Index> IndexSet for I {
    const CUSTOM: &'static [&'static [&'static str]] = &[I::CUSTOM];
    type Refs<'a> = &'a I;
    type Muts<'a> = &'a mut I;
}

macro_rules! index_tuples {
    ($($($T:ident),+;)*) => { $(
        impl<$($T: Index),+> IndexSet for ($($T,)+) {
            const CUSTOM: &'static [&'static [&'static str]] = &[$($T::CUSTOM),+];
            type Refs<'a> = ($(&'a $T,)+);
            type Muts<'a> = ($(&'a mut $T,)+);
        }
    )* }
}
index_tuples! { A; A, B; A, B, C; A, B, C, D; }
