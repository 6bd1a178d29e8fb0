//! [`SimpleFilter`] and [`SimpleScore`]: plugins that read one pod and one node.
//!
//! The attribute `#[plugin]` adds the omitted items to the `impl`, and implements [`Plugin`]. This module implements
//! the extension points for these plugins.

use std::hash::Hash;

use crate::model::PodSpec;
use crate::model::intern::Interner;
use crate::plugin_api::args::Decode;
use crate::plugin_api::column::ColumnSet;
use crate::plugin_api::extension_points::{
    Extent, FilterPlugin, NormalizeScore, ScoreError, ScorePlugin, default_normalize,
};
use crate::plugin_api::incremental::Incremental;
use crate::plugin_api::plugin::{Plugin, Row};
use crate::plugin_api::status::{Code, Reasons};

/// A filter in a few lines: one function reads the pod, another one evaluates it on a node.
///
/// The name of the plugin is the name of the type, and its fields are its arguments in profiles. Rejections are
/// resolvable ([`Code::Unschedulable`]): preemption may try such nodes.
///
/// ```
/// use schedc_core::prelude::*;
///
/// /// Keeps pods off nodes that have a label.
/// #[derive(Clone, Copy, Args)]
/// pub struct Maintenance {
///     /// Label of nodes under maintenance.
///     #[args(default = "example.com/maintenance", format = "qualified-name")]
///     label: &'static str,
/// }
///
/// #[plugin]
/// impl SimpleFilter for Maintenance {
///     type Pod = Symbol;
///
///     fn read(&self, _: &PodSpec, interner: &mut Interner) -> Symbol {
///         interner.intern(self.label)
///     }
///
///     fn filter(&self, label: &Symbol, node: &NodeInfo) -> Result<(), &'static str> {
///         match node.label(*label) {
///             None => Ok(()),
///             Some(_) => Err("node(s) were under maintenance"),
///         }
///     }
/// }
/// ```
pub trait SimpleFilter: Completed + Decode + Copy + Send + Sync + 'static {
    /// All that the filter reads of a pod. Pods with equal values share cached answers. If both this type and `read`
    /// are omitted, `#[plugin]` adds `()`.
    type Pod: Eq + Hash + Send + Sync + 'static;
    /// All that the filter reads of a node. If omitted, `#[plugin]` adds [`NodeInfo`](crate::column::NodeInfo), the
    /// whole node.
    type Columns: ColumnSet;
    /// Reads a pod. Intern label keys and similar strings here.
    fn read(&self, pod: &PodSpec, interner: &mut Interner) -> Self::Pod;
    /// Evaluates the pod on the node. The result must depend only on the arguments, the pod and the node: the function
    /// may be called twice.
    ///
    /// # Errors
    /// The reason of the rejection, for the pod's message.
    fn filter(&self, pod: &Self::Pod, node: <Self::Columns as ColumnSet>::Row<'_>) -> Result<(), &'static str>;
}

/// A score in a few lines: one function reads the pod, another one scores a node.
///
/// The name of the plugin is the name of the type, and its fields are its arguments in profiles.
///
/// ```
/// use schedc_core::prelude::*;
///
/// /// Prefers nodes with few pods of the pod's namespace.
/// #[derive(Clone, Copy, Args)]
/// pub struct NamespaceSpread;
///
/// #[plugin]
/// impl SimpleScore for NamespaceSpread {
///     type Pod = Symbol;
///     type Normalization = ReversedNormalization;
///
///     fn read(&self, pod: &PodSpec, _: &mut Interner) -> Symbol {
///         pod.namespace
///     }
///
///     fn score(&self, namespace: &Symbol, node: &NodeInfo) -> i64 {
///         node.pods.iter().filter(|pod| pod.spec.namespace == *namespace).count() as i64
///     }
/// }
/// ```
pub trait SimpleScore: Completed + Decode + Copy + Send + Sync + 'static {
    /// All that the score reads of a pod. Pods with equal values share cached answers. If both this type and `read` are
    /// omitted, `#[plugin]` adds `()`.
    type Pod: Eq + Hash + Send + Sync + 'static;
    /// All that the score reads of a node. If omitted, `#[plugin]` adds [`NodeInfo`](crate::column::NodeInfo), the
    /// whole node.
    type Columns: ColumnSet;
    /// [`DefaultNormalization`], [`ReversedNormalization`] or [`Unnormalized`]. If this type is omitted, `#[plugin]`
    /// adds [`Unnormalized`]. The catalog entry of a plugin that normalises has `normalizes = true`.
    type Normalization;
    /// Reads a pod. Intern label keys and similar strings here.
    fn read(&self, pod: &PodSpec, interner: &mut Interner) -> Self::Pod;
    /// Returns the score of the node: 0 to 100, or any number from 0 if it is normalised.
    fn score(&self, pod: &Self::Pod, node: <Self::Columns as ColumnSet>::Row<'_>) -> i64;
}

/// Marker of plugins whose `impl` has `#[plugin]`. The attribute implements it.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`#[plugin]` is missing on this `impl`",
    note = "it implements `Plugin` for `{Self}`"
)]
pub trait Completed {}

/// Scores are 0 to 100 already.
pub struct Unnormalized;

/// The feasible node with the highest score gets 100, and the others in proportion.
pub struct DefaultNormalization;

/// The feasible node with the highest score gets 0, and a node with score 0 gets 100: less is better.
pub struct ReversedNormalization;

/// A [`SimpleScore::Normalization`] that changes scores.
pub trait Normalization {
    /// Whether less is better.
    const IS_REVERSED: bool;
}

impl Normalization for DefaultNormalization {
    const IS_REVERSED: bool = false;
}

impl Normalization for ReversedNormalization {
    const IS_REVERSED: bool = true;
}

#[diagnostic::do_not_recommend]
impl<P> FilterPlugin for P
where
    P: SimpleFilter + Plugin<Args = P, Columns = <P as SimpleFilter>::Columns, Pod = <P as SimpleFilter>::Pod>,
{
    type Cycle = ();
    /// The loop over nodes stores no reason. If the reason is needed, `filter` is called again.
    type Rejection = ();
    #[inline(always)]
    fn filter(args: &P, pod: &<P as SimpleFilter>::Pod, _: &(), node: Row<'_, P>) -> Result<(), ()> {
        SimpleFilter::filter(args, pod, node).map_err(|_| ())
    }
    fn code(_: &()) -> Code {
        Code::Unschedulable
    }
    fn explain(args: &P, pod: &<P as SimpleFilter>::Pod, _: &(), node: Row<'_, P>, _: (), out: &mut Reasons<'_>) {
        if let Err(reason) = SimpleFilter::filter(args, pod, node) {
            out.push(reason);
        }
    }
}

#[diagnostic::do_not_recommend]
impl<P> Incremental for P
where
    P: SimpleFilter + Plugin<Args = P, Columns = <P as SimpleFilter>::Columns, Pod = <P as SimpleFilter>::Pod>,
{
    const FILTER_CAN_FAIL: bool = false;
}

#[diagnostic::do_not_recommend]
impl<P> ScorePlugin for P
where
    P: SimpleScore + Plugin<Args = P, Columns = <P as SimpleScore>::Columns, Pod = <P as SimpleScore>::Pod>,
{
    type Cycle = ();
    #[inline(always)]
    fn score(args: &P, pod: &<P as SimpleScore>::Pod, _: &(), node: Row<'_, P>) -> Result<i64, ScoreError> {
        Ok(SimpleScore::score(args, pod, node))
    }
}

#[diagnostic::do_not_recommend]
impl<P> NormalizeScore for P
where
    P: SimpleScore<Normalization: Normalization>
        + Plugin<Args = P, Columns = <P as SimpleScore>::Columns, Pod = <P as SimpleScore>::Pod>,
{
    const USES_MIN: bool = false;
    #[inline(always)]
    fn normalize(_: &P, extent: Extent, raw: i64) -> i64 {
        default_normalize(extent, P::Normalization::IS_REVERSED, raw)
    }
}
