//! State derived from the cluster and shared by all plugins and profiles that declare it: columns hold an entry for
//! each node, indexes one value for the cluster.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::cache::Base;
use crate::intern::{Interner, Symbol};
use crate::model::{LabelsExt, Node, NodeIndex, Object, Pod};

/// An entry that is kept for every node. The default is that of a slot without a node.
///
/// `add_pod` and `remove_pod` undo each other exactly, so that an entry kept up to date equals a rebuilt one. They do not look
/// at a pod's `nominated_node` and `started`: nobody tells them when a pod on a node changes in nothing else.
pub trait Column: Clone + Default + PartialEq + Send + Sync + 'static {
    /// Whether an entry says nothing of pods: `add_pod` and `remove_pod` do nothing.
    const READS_ONLY_NODE: bool = false;

    /// Interns strings that entries compare, such as the key of a label of pods. Called once, before any entry is built.
    ///
    /// Without it, [`Interner::get`] in `build` returns `None` if no object so far has the string, and a pod that comes later may have it.
    fn begin(_interner: &mut Interner) {}
    /// The entry of a node without pods.
    fn build(node: &Node, interner: &Interner) -> Self;
    /// A pod comes to the node.
    fn add_pod(&mut self, _pod: &Pod) {}
    /// A pod leaves the node.
    fn remove_pod(&mut self, _pod: &Pod) {}
}

/// A column whose entries depend on the arguments of the plugin that declares it as [`WithArgs`].
///
/// Profiles with equal arguments share one; others have one each. The catalog declares it with
/// `{ path = "my_plugins::NodePrice", args = true }`. `add_pod` and `remove_pod` are as in [`Column`].
pub trait ColumnWithArgs: Clone + Default + PartialEq + Send + Sync + 'static {
    /// The arguments of the plugin: its [`Plugin::Args`](crate::Plugin::Args).
    type Args: Sync + 'static;
    /// Whether an entry does not depend on pods: `add_pod` and `remove_pod` do nothing.
    const READS_ONLY_NODE: bool = false;

    /// Interns strings that entries compare, as in [`Column::begin`]: a label of pods that the arguments name, for example.
    fn begin(_args: &Self::Args, _interner: &mut Interner) {}
    /// Returns the entry of a node without pods.
    fn build(args: &Self::Args, node: &Node, interner: &Interner) -> Self;
    /// Adds a pod to the node.
    fn add_pod(&mut self, _args: &Self::Args, _pod: &Pod) {}
    /// Removes a pod from the node.
    fn remove_pod(&mut self, _args: &Self::Args, _pod: &Pod) {}
}

/// A [`ColumnWithArgs`] among the columns of a plugin; kernels get a reference to the entry.
pub struct WithArgs<C>(PhantomData<fn() -> C>);

/// One node's entry of a column, to be changed in thought: the cluster's own, until a pod comes or leaves.
#[derive(Clone, Debug)]
pub enum HypotheticalColumn<'a, C> {
    /// As it is.
    Unchanged(&'a C),
    /// With other pods.
    Changed(C),
}

impl<C: Column> HypotheticalColumn<'_, C> {
    /// A pod comes to the node.
    #[inline]
    pub fn add_pod(&mut self, pod: &Pod) {
        if !C::READS_ONLY_NODE {
            self.own().add_pod(pod);
        }
    }
    /// A pod leaves the node.
    #[inline]
    pub fn remove_pod(&mut self, pod: &Pod) {
        if !C::READS_ONLY_NODE {
            self.own().remove_pod(pod);
        }
    }
}

impl<C: ColumnWithArgs> HypotheticalColumn<'_, C> {
    /// A pod comes to the node.
    #[inline]
    pub fn add_pod_with(&mut self, args: &C::Args, pod: &Pod) {
        if !C::READS_ONLY_NODE {
            self.own().add_pod(args, pod);
        }
    }
    /// A pod leaves the node.
    #[inline]
    pub fn remove_pod_with(&mut self, args: &C::Args, pod: &Pod) {
        if !C::READS_ONLY_NODE {
            self.own().remove_pod(args, pod);
        }
    }
}

impl<C: Clone> HypotheticalColumn<'_, C> {
    /// The entry.
    #[inline]
    pub fn get(&self) -> &C {
        match self {
            HypotheticalColumn::Unchanged(entry) => entry,
            HypotheticalColumn::Changed(entry) => entry,
        }
    }

    fn own(&mut self) -> &mut C {
        if let HypotheticalColumn::Unchanged(entry) = *self {
            *self = HypotheticalColumn::Changed(entry.clone());
        }
        match self {
            HypotheticalColumn::Changed(entry) => entry,
            HypotheticalColumn::Unchanged(_) => unreachable!("it was copied"),
        }
    }
}

/// A node with its pods: kube-scheduler's `NodeInfo`, for plugins that look at whole objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeInfo {
    /// The node; `None` in a slot without one.
    pub node: Option<Arc<Node>>,
    /// Pods on it. Removing one moves the last into the gap, as in kube-scheduler.
    pub pods: Vec<Arc<Pod>>,
}

impl NodeInfo {
    /// The value of one of the node's labels.
    #[inline]
    pub fn label(&self, key: Symbol) -> Option<Symbol> {
        self.node.as_ref()?.labels.value(key)
    }
    /// The entry of this slot in a column, derived from nothing.
    pub fn entry<C: Column>(&self, interner: &Interner) -> C {
        let Some(node) = &self.node else { return C::default() };
        let mut entry = C::build(node, interner);
        self.pods.iter().for_each(|pod| entry.add_pod(pod));
        entry
    }
    /// A pod comes to the node.
    #[inline]
    pub fn add_pod(&mut self, pod: Arc<Pod>) {
        self.pods.push(pod);
    }
    /// A pod leaves the node; `None` if it was not there.
    pub fn remove_pod(&mut self, pod: &Pod) -> Option<Arc<Pod>> {
        // Nearly always the same pod in memory, which is found without looking at the others, and often one that came lately.
        let is_it = self.pods.iter().rposition(|p| std::ptr::eq(&**p, pod));
        let at = is_it.or_else(|| self.pods.iter().position(|p| p.uid == pod.uid))?;
        Some(self.pods.swap_remove(at))
    }
}

/// What a plugin's kernels read of a node: a [`Column`], [`WithArgs`], [`NodeInfo`], [`Position`], or a tuple of them.
pub trait ColumnSet: 'static {
    /// Whether they say nothing of pods: see [`Column::READS_ONLY_NODE`].
    const READS_ONLY_NODE: bool;
    /// The entries of one node.
    type Row<'a>: Copy;
    /// The entries of all nodes.
    type Slices<'a>: Copy;
    /// The entries of the node at `index`.
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

/// Which node it is: for cycle state that has an entry for each node.
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

/// Derives the entry of a slot in a column anew, which grows as far as there are slots. Returns whether it is another one
/// than before.
pub fn rebuild_entry<C: Column>(column: &mut Vec<C>, base: &Base, index: NodeIndex) -> bool {
    replace_entry(column, base, index, |info| info.entry(&base.interner))
}

/// As [`rebuild_entry`], for a column that depends on arguments.
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

/// State of the cluster as a whole. Kernels never see it: what runs once a cycle does.
pub trait Index: Default + Send + Sync + 'static {
    /// The declared kinds that it is made of, by their [`RESOURCE`](crate::custom::CustomResource::RESOURCE). A plugin that
    /// reads it has to watch them.
    const CUSTOM: &'static [&'static str] = &[];

    /// Before anything else: takes down the symbols of what it will look for, such as the key of a label.
    fn begin(&mut self, _interner: &mut Interner) {}
    /// A node came (`old` is none), changed, or went (`new` is none).
    fn set_node(&mut self, _index: NodeIndex, _old: Option<&Node>, _new: Option<&Node>) {}
    /// A pod comes to a node. As with columns, its `nominated_node` and `started` do not count.
    fn add_pod(&mut self, _index: NodeIndex, _pod: &Pod) {}
    /// A pod leaves a node.
    fn remove_pod(&mut self, _index: NodeIndex, _pod: &Pod) {}
    /// A pod that waits for a node came (`old` is none), changed, or is none any more (`new` is none): it is bound, or gone.
    /// It waits until it is bound: one that was assumed has come to its node already. Pods of schedulers that this program
    /// is not do not count. Of what the scheduler itself writes into a pod's status, nobody tells.
    fn set_pending(&mut self, _old: Option<&Pod>, _new: Option<&Pod>) {}
    /// An object of another kind came (`old` is none), changed, or went (`new` is none).
    fn set_object(&mut self, _old: Option<&Object>, _new: Option<&Object>) {}
}

/// What a plugin reads of the cluster: an [`Index`], or a tuple of them.
pub trait IndexSet: 'static {
    /// To read, once a cycle.
    type Refs<'a>: Copy;
    /// To register what a pod asks about, when it is compiled.
    type Muts<'a>;
    /// Whether there is none.
    const IS_EMPTY: bool = false;
    /// [`Index::CUSTOM`] of each.
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
