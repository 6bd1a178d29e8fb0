//! Views and verdicts that nodes share: nodes without local devices mostly see the same devices.

use std::sync::{Arc, Weak};

use schedc_core::intern::{Interner, Symbol};
use schedc_core::map::Map;
use schedc_core::model::{Labels, Node};

use crate::error::{Failure, Unfit};
use crate::pool::Pool;
use crate::prepared::Prepared;
use crate::view::NodeView;

/// Number of different views with which a new one is compared.
const MAX_RECENT: usize = 8;

/// Views of nodes that were evaluated.
#[derive(Debug, Default)]
pub(crate) struct Views {
    nodes: Map<Symbol, View>,
    /// The latest different views.
    recent: Vec<Arc<NodeView>>,
}

#[derive(Debug)]
struct View {
    /// Labels of the node, to find changes.
    labels: Labels,
    view: Arc<NodeView>,
}

impl Views {
    /// Returns the view of a node if it was gathered for the node's current labels.
    pub(crate) fn current(&self, node: &Node) -> Option<&Arc<NodeView>> {
        let known = self.nodes.get(&node.name);
        let is_current = |known: &&View| Arc::ptr_eq(&known.labels, &node.labels) || known.labels == node.labels;
        known.filter(is_current).map(|known| &known.view)
    }

    /// Gathers and returns the view of a node from the pools that can concern it.
    pub(crate) fn gather<'a>(
        &mut self,
        node: &Node,
        pools: impl Iterator<Item = (usize, &'a Pool)>,
        interner: &Interner,
    ) -> Result<Arc<NodeView>, Failure> {
        let view = NodeView::gather(node, pools, interner)?;
        let view = match self.recent.iter().find(|known| ***known == view) {
            Some(known) => known.clone(),
            None => {
                let view = Arc::new(view);
                if self.recent.len() == MAX_RECENT {
                    self.recent.remove(0);
                }
                self.recent.push(view.clone());
                view
            }
        };
        self.nodes.insert(node.name, View { labels: node.labels.clone(), view: view.clone() });
        Ok(view)
    }

    /// Returns the number of nodes with a view.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Removes the views of nodes that do not exist.
    pub(crate) fn retain(&mut self, exists: impl Fn(Symbol) -> bool) {
        self.nodes.retain(|name, _| exists(*name));
    }

    pub(crate) fn remove(&mut self, node: Symbol) {
        self.nodes.remove(&node);
    }

    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.recent.clear();
    }
}

/// Devices that several nodes see. The reference does not keep them in memory, but no other view can get its address.
#[derive(Clone, Debug)]
pub struct SharedView(pub(crate) Weak<NodeView>);

/// Two values are equal if they are the same view.
impl PartialEq for SharedView {
    fn eq(&self, other: &Self) -> bool {
        Weak::ptr_eq(&self.0, &other.0)
    }
}

/// Returns whether a view that the caller holds is the view of several nodes. The result may be true for the view of one
/// node, because verdicts also hold references: that costs memory, but results stay the same.
pub(crate) fn is_shared(view: &Arc<NodeView>) -> bool {
    // One reference each from `nodes`, `recent` and the caller.
    Arc::strong_count(view) > 3
}

/// Verdict for a node on which devices can be allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Sum over requests with alternatives: 8 for the first alternative, 7 for the second, and so on.
    pub score: i64,
}

/// Verdicts for claims on nodes with shared views, until devices change.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    prepared: Option<Arc<Prepared>>,
    position: u64,
    verdicts: Vec<(Arc<NodeView>, Result<Verdict, Unfit>)>,
}

impl Verdicts {
    /// Returns the known verdict for claims on nodes with a view, at a position of the change log. Removes the verdicts
    /// for other claims or positions.
    pub(crate) fn get(
        &mut self,
        view: &Arc<NodeView>,
        prepared: &Arc<Prepared>,
        position: u64,
    ) -> Option<Result<Verdict, Unfit>> {
        let is_same = self.prepared.as_ref().is_some_and(|known| Arc::ptr_eq(known, prepared));
        if !is_same || self.position != position {
            self.verdicts.clear();
            self.prepared = Some(prepared.clone());
            self.position = position;
        }
        self.verdicts.iter().find(|(known, _)| Arc::ptr_eq(known, view)).map(|(_, verdict)| verdict.clone())
    }

    /// Adds the verdict for the claims and the position of the latest call of `get`. A failure is not added, because
    /// failures can depend on time.
    pub(crate) fn insert(&mut self, view: Arc<NodeView>, verdict: &Result<Verdict, Unfit>) {
        if !matches!(verdict, Err(Unfit::Failed(_))) {
            self.verdicts.push((view, verdict.clone()));
        }
    }
}
