//! The state of devices and its changes.

use std::collections::BTreeSet;
use std::sync::Arc;

use schedc_cel::Selector;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::map::Map;
use schedc_core::model::{
    AllocationResult, CapacityRequirements, DeviceClass, DeviceSelector, DeviceToleration, ExactDeviceRequest, Node,
    ResourceClaimSpec, ResourceSlice,
};
use slab::Slab;

use crate::block::Block;
use crate::changes::{Affected, Changes};
use crate::column::{Column, Compiled, Shape};
use crate::device_list::{BlockTables, DeviceList};
use crate::error::{Failure, Unfit};
use crate::input::Input;
use crate::pool::{Pool, PoolKey, PoolStatus, Reach};
use crate::prepared::{Prepared, prepare};
use crate::result::{Allocations, allocations, check_nodes};
use crate::search::{Scratch, search};
use crate::shared::{SharedView, Verdict, Verdicts, Views, is_shared};
use crate::view::NodeView;

/// Maximum number of cached requests, and of cached lists of claims. If one of the two numbers reaches this limit, the
/// next call of [`Inventory::prepare`] for new claims clears the cache.
pub const MAX_CACHED: usize = 512;
/// Number of views of removed nodes that are kept, in addition to an eighth of the number of nodes.
const MAX_OBSOLETE_VIEWS: usize = 64;

/// Devices of a cluster, the classes of devices, and the claims that hold devices.
#[derive(Debug, Default)]
pub struct Inventory {
    pools: Slab<Pool>,
    tables: BlockTables,
    keys: Map<PoolKey, usize>,
    slices: Map<Symbol, Arc<ResourceSlice>>,
    classes: Map<Symbol, Arc<DeviceClass>>,
    /// Allocations by namespace and name of the claim.
    claims: Map<(Symbol, Symbol), Arc<AllocationResult>>,
    /// Allocations of claims that are not created yet, by the number that the caller chose.
    unnamed: Map<u64, Arc<AllocationResult>>,
    /// Pools with slices that name a node, by node.
    local: Map<Symbol, BTreeSet<usize>>,
    /// Pools that can concern any node.
    wide: BTreeSet<usize>,
    /// Pools whose shared counters are incomplete or invalid. These pools concern all nodes.
    problems: BTreeSet<usize>,
    /// Views of nodes that were evaluated.
    views: Views,
    verdicts: Verdicts,
    changes: Changes,
    cache: Cache,
    scratch: Scratch,
    /// A position in the change log, and the claims by device at this position, for explanations.
    holders: Option<(u64, Arc<Holders>)>,
}

/// The claims that hold devices exclusively, by driver, pool and device.
pub(crate) type Holders = Map<[Symbol; 3], (Symbol, Symbol)>;

/// Compiled requests and claims.
#[derive(Debug, Default)]
struct Cache {
    /// Increases when indices of shapes become invalid.
    epoch: u64,
    selectors: Map<Symbol, Compiled>,
    shapes: Vec<Shape>,
    shape_keys: Map<ShapeKey, usize>,
    /// Indices of the shapes that select all devices of a class. There is at most one for each class, because changes
    /// of classes clear the cache.
    class_shapes: Map<Symbol, usize>,
    prepared: Map<Box<[Arc<ResourceClaimSpec>]>, Arc<Prepared>>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ShapeKey {
    class: Symbol,
    selectors: Box<[DeviceSelector]>,
    capacity: Option<CapacityRequirements>,
    tolerations: Arc<[DeviceToleration]>,
}

impl Inventory {
    /// Returns an inventory without devices.
    pub fn new() -> Inventory {
        Inventory::default()
    }

    /// Adds or changes a slice.
    pub fn set_slice(&mut self, slice: &Arc<ResourceSlice>, interner: &Interner) {
        let old = self.slices.insert(slice.name, slice.clone());
        if old.as_ref() == Some(slice) {
            return;
        }
        let key = (slice.driver, slice.pool);
        if let Some(old) = old.filter(|old| (old.driver, old.pool) != key) {
            self.change_pool((old.driver, old.pool), interner, |pool, tables| pool.remove_slice(old.name, tables));
        }
        self.change_pool(key, interner, |pool, tables| pool.set_slice(slice, tables, interner));
    }

    /// Removes a slice.
    pub fn remove_slice(&mut self, name: Symbol, interner: &Interner) {
        if let Some(old) = self.slices.remove(&name) {
            self.change_pool((old.driver, old.pool), interner, |pool, tables| pool.remove_slice(name, tables));
        }
    }

    /// Adds or changes a class.
    pub fn set_class(&mut self, class: &Arc<DeviceClass>) {
        let old = self.classes.insert(class.name, class.clone());
        if old.is_none_or(|old| old.selectors != class.selectors || old.config != class.config) {
            self.change_classes();
        }
    }

    /// Removes a class.
    pub fn remove_class(&mut self, name: Symbol) {
        if self.classes.remove(&name).is_some() {
            self.change_classes();
        }
    }

    /// Sets the allocation of a claim. The allocation may be decided and not written yet. `None`: the claim is not
    /// allocated, or does not exist. A claim does not hold devices to which it has admin access.
    pub fn set_claim(
        &mut self,
        namespace: Symbol,
        name: Symbol,
        allocation: Option<&Arc<AllocationResult>>,
        interner: &Interner,
    ) {
        let key = (namespace, name);
        let old = match allocation {
            Some(allocation) => self.claims.insert(key, allocation.clone()),
            None => self.claims.remove(&key),
        };
        self.change_use(old, allocation, interner);
    }

    /// Sets the allocation of a claim that is not created yet. The caller chooses the number that identifies the claim.
    pub fn set_unnamed_claim(&mut self, number: u64, allocation: Option<&Arc<AllocationResult>>, interner: &Interner) {
        let old = match allocation {
            Some(allocation) => self.unnamed.insert(number, allocation.clone()),
            None => self.unnamed.remove(&number),
        };
        self.change_use(old, allocation, interner);
    }

    /// Releases the devices of an allocation, and holds those of another one.
    fn change_use(
        &mut self,
        old: Option<Arc<AllocationResult>>,
        allocation: Option<&Arc<AllocationResult>>,
        interner: &Interner,
    ) {
        if let (Some(old), Some(new)) = (&old, allocation)
            && (Arc::ptr_eq(old, new) || old.results == new.results)
        {
            return;
        }
        for (allocation, is_added) in [(old.as_ref(), false), (allocation, true)] {
            for result in allocation.iter().flat_map(|allocation| allocation.results.iter()) {
                if result.admin_access == Some(true) {
                    continue;
                }
                let at = self.pool((result.driver, result.pool), interner);
                let pool = &mut self.pools[at];
                pool.change_use(result, is_added, &mut self.tables);
                let Reach { nodes, is_wide, .. } = &pool.reach;
                match is_wide {
                    true => self.changes.push(Affected::UseOfShared),
                    false => nodes.iter().for_each(|node| self.changes.push(Affected::Node(*node))),
                }
                self.remove_if_empty(at);
            }
        }
    }

    /// Returns the view of a node, if several nodes share it. `None` also if the view was not gathered since the node or
    /// its devices changed.
    pub fn shared_view(&self, node: &Node) -> Option<SharedView> {
        let view = self.views.current(node)?.clone();
        is_shared(&view).then(|| SharedView(Arc::downgrade(&view)))
    }

    /// Removes cached data of nodes that no longer exist, once there are many of them. `count` is the number of nodes, `exists`
    /// returns whether there is a node with this name.
    pub fn forget_nodes(&mut self, count: usize, exists: impl Fn(Symbol) -> bool) {
        if self.views.len() > count + count / 8 + MAX_OBSOLETE_VIEWS {
            self.views.retain(exists);
        }
    }

    /// Returns the number of nodes with cached data.
    pub fn cached_nodes(&self) -> usize {
        self.views.len()
    }

    /// Returns the claims that hold devices exclusively.
    pub(crate) fn holders(&mut self) -> Arc<Holders> {
        let position = self.position();
        if let Some((_, holders)) = self.holders.as_ref().filter(|(known, _)| *known == position) {
            return holders.clone();
        }
        let results = self.claims.iter().flat_map(|(claim, held)| held.results.iter().map(move |held| (claim, held)));
        let exclusive = results.filter(|(_, held)| held.admin_access != Some(true) && held.share_id.is_none());
        let by_device = exclusive.map(|(claim, held)| ([held.driver, held.pool, held.device], *claim));
        let holders: Arc<Holders> = Arc::new(by_device.collect());
        self.holders = Some((position, holders.clone()));
        holders
    }

    /// Returns the number of changes so far: a position for [`Inventory::changes_since`].
    pub fn position(&self) -> u64 {
        self.changes.position()
    }

    /// Returns the nodes whose verdicts may have changed since a position. `None`: the verdicts of all nodes may have
    /// changed. A change of a node's labels affects its verdict too, and is not part of this log.
    pub fn changes_since(&self, position: u64) -> Option<&[Affected]> {
        self.changes.since(position)
    }

    /// Returns the number of cached requests, and of cached claims. The number of requests can exceed [`MAX_CACHED`] by
    /// those of one call of [`Inventory::prepare`] and by the number of classes.
    pub fn cached(&self) -> (usize, usize) {
        (self.cache.shapes.len(), self.cache.prepared.len())
    }

    /// Compiles specs of claims that are to be allocated together, in order. Equal specs share the result.
    pub fn prepare(&mut self, specs: &[Arc<ResourceClaimSpec>], interner: &Interner) -> Arc<Prepared> {
        if let Some(prepared) = self.cache.prepared.get(specs) {
            return prepared.clone();
        }
        if self.cache.prepared.len() >= MAX_CACHED || self.cache.shapes.len() >= MAX_CACHED {
            self.cache.clear();
        }
        let Inventory { cache, classes, .. } = self;
        let epoch = cache.epoch;
        let shape = |class: &DeviceClass, request: &ExactDeviceRequest| cache.shape(class, request, interner);
        let class = |name| classes.get(&name).cloned();
        let prepared = Arc::new(prepare(specs, epoch, class, shape, interner));
        self.cache.prepared.insert(specs.into(), prepared.clone());
        prepared
    }

    /// Returns whether claims were compiled for the current classes. Other claims are compiled again at each use.
    pub fn is_current(&self, prepared: &Prepared) -> bool {
        prepared.epoch == self.cache.epoch
    }

    /// Decides whether devices for prepared claims can be allocated on a node. The search calls `is_expired` regularly,
    /// and stops if it returns true.
    ///
    /// # Errors
    /// If the devices cannot be allocated on this node, or if the attempt fails.
    pub fn evaluate(
        &mut self,
        prepared: &Arc<Prepared>,
        node: &Node,
        interner: &Interner,
        is_expired: impl FnMut() -> bool,
    ) -> Result<Verdict, Unfit> {
        let prepared = &self.current(prepared, interner);
        let view = self.view(node, interner)?;
        let is_shared = is_shared(&view);
        if is_shared && let Some(known) = self.verdicts.get(&view, prepared, self.changes.position()) {
            return known;
        }
        let (input, scratch) = self.input(prepared, &view, interner);
        let result = search(input, scratch, is_expired)
            .and_then(|score| Ok(check_nodes(&input, scratch).map(|()| Verdict { score })?));
        if is_shared {
            self.verdicts.insert(view, &result);
        }
        result
    }

    /// Allocates devices for prepared claims on a node. `share_id` returns a new identifier of a share. The devices
    /// stay free in the inventory until a call of [`Inventory::set_claim`].
    ///
    /// # Errors
    /// As [`Inventory::evaluate`].
    pub fn allocate(
        &mut self,
        prepared: &Arc<Prepared>,
        node: &Node,
        interner: &Interner,
        is_expired: impl FnMut() -> bool,
        share_id: impl FnMut() -> Arc<str>,
    ) -> Result<Allocations, Unfit> {
        let prepared = self.current(prepared, interner);
        let view = self.view(node, interner)?;
        let (input, scratch) = self.input(&prepared, &view, interner);
        search(input, scratch, is_expired)?;
        Ok(allocations(&input, scratch, node.name, share_id)?)
    }

    /// Returns the claims as compiled for the current classes.
    pub(crate) fn current(&mut self, prepared: &Arc<Prepared>, interner: &Interner) -> Arc<Prepared> {
        match self.is_current(prepared) {
            true => prepared.clone(),
            false => self.prepare(&prepared.specs, interner),
        }
    }

    /// Evaluates the requests for the devices of a view. Returns the input of a search.
    pub(crate) fn input<'a>(
        &'a mut self,
        prepared: &'a Prepared,
        view: &'a NodeView,
        interner: &'a Interner,
    ) -> (Input<'a>, &'a mut Scratch) {
        let Inventory { pools, tables, cache, scratch, .. } = self;
        for &list in &view.lists {
            let list = &mut tables.lists[list];
            prepared.shapes.iter().for_each(|&shape| cache.evaluate(shape, list));
        }
        (Input { pools, tables, view, prepared, shapes: &cache.shapes, interner }, scratch)
    }

    /// Evaluates the selectors of a class on the devices of all pools that can concern a node. Returns the index of the
    /// class's shape; `None` if the class does not exist.
    pub(crate) fn evaluate_class(&mut self, class: Symbol, node: Symbol, interner: &Interner) -> Option<usize> {
        let Inventory { pools, tables, classes, cache, local, wide, .. } = self;
        let shape = cache.class_shape(classes.get(&class)?, interner);
        for at in positions(local, wide, node) {
            let blocks = pools[at].slices.iter().flat_map(|slice| &slice.blocks);
            blocks.for_each(|block| cache.evaluate(shape, &mut tables.lists[block.list]));
        }
        Some(shape)
    }

    /// Returns the devices of a block that a shape selects; `None` if they are not evaluated.
    pub(crate) fn column(&self, block: &Block, shape: usize) -> Option<&Column> {
        self.tables.lists[block.list].columns[shape].as_ref()
    }

    /// Returns the pools with devices that can concern a node.
    pub(crate) fn pools_of(&self, node: Symbol) -> impl Iterator<Item = &Pool> {
        positions(&self.local, &self.wide, node).map(|at| &self.pools[at])
    }

    /// Returns the view of a node.
    pub(crate) fn view(&mut self, node: &Node, interner: &Interner) -> Result<Arc<NodeView>, Failure> {
        if let Some(view) = self.views.current(node) {
            return Ok(view.clone());
        }
        let local = self.local.get(&node.name).into_iter().flatten();
        let pools: BTreeSet<usize> = local.chain(&self.wide).chain(&self.problems).copied().collect();
        let pools = pools.into_iter().map(|at| (at, &self.pools[at]));
        self.views.gather(node, pools, interner)
    }

    /// Changes the slices of a pool, and records the affected nodes.
    fn change_pool(&mut self, key: PoolKey, interner: &Interner, change: impl FnOnce(&mut Pool, &mut BlockTables)) {
        let at = self.pool(key, interner);
        let old = std::mem::take(&mut self.pools[at].reach);
        change(&mut self.pools[at], &mut self.tables);
        let new = self.pools[at].reach.clone();
        for node in &old.nodes {
            if let Some(pools) = self.local.get_mut(node) {
                pools.remove(&at);
                if pools.is_empty() {
                    self.local.remove(node);
                }
            }
        }
        for node in &new.nodes {
            self.local.entry(*node).or_default().insert(at);
        }
        set_member(&mut self.wide, at, new.is_wide);
        set_member(&mut self.problems, at, new.foreign != PoolStatus::Ready);
        if old.is_wide || new.is_wide || old.foreign != new.foreign {
            self.views.clear();
            self.changes.push(Affected::All);
        } else {
            for node in old.nodes.iter().chain(&new.nodes) {
                self.views.remove(*node);
                self.changes.push(Affected::Node(*node));
            }
        }
        self.remove_if_empty(at);
    }

    /// Returns the index of a pool. Adds the pool if it is new.
    fn pool(&mut self, key: PoolKey, interner: &Interner) -> usize {
        let Inventory { keys, pools, .. } = self;
        *keys.entry(key).or_insert_with(|| pools.insert(Pool::new(key, interner)))
    }

    fn remove_if_empty(&mut self, at: usize) {
        if self.pools[at].is_empty() {
            let pool = self.pools.remove(at);
            self.keys.remove(&pool.key);
        }
    }

    fn change_classes(&mut self) {
        self.cache.clear();
        self.changes.push(Affected::All);
    }
}

/// Returns the indexes of pools with devices that can concern a node.
fn positions<'a>(
    local: &'a Map<Symbol, BTreeSet<usize>>,
    wide: &'a BTreeSet<usize>,
    node: Symbol,
) -> impl Iterator<Item = usize> + use<'a> {
    let local = local.get(&node).into_iter().flatten().filter(|at| !wide.contains(at));
    local.chain(wide).copied()
}

fn set_member(set: &mut BTreeSet<usize>, at: usize, is_member: bool) {
    if is_member {
        set.insert(at);
    } else {
        set.remove(&at);
    }
}

impl Cache {
    fn clear(&mut self) {
        self.epoch += 1;
        self.selectors.clear();
        self.shapes.clear();
        self.shape_keys.clear();
        self.class_shapes.clear();
        self.prepared.clear();
    }

    /// Returns the index of the shape that selects all devices of a class. As in kube-scheduler's scores, selectors of
    /// unknown types are ignored.
    fn class_shape(&mut self, class: &DeviceClass, interner: &Interner) -> usize {
        if let Some(at) = self.class_shapes.get(&class.name) {
            return *at;
        }
        let expressions = class.selectors.iter().filter_map(|selector| selector.cel);
        let selectors: Vec<_> = expressions.map(|expression| self.selector(expression, interner)).collect();
        let shape = Shape {
            class: class.name,
            class_selectors: selectors.len(),
            selectors,
            capacity: None,
            tolerations: Arc::default(),
        };
        self.shapes.push(shape);
        self.class_shapes.insert(class.name, self.shapes.len() - 1);
        self.shapes.len() - 1
    }

    fn selector(&mut self, expression: Symbol, interner: &Interner) -> Compiled {
        let compile = || Arc::new(Selector::compile(interner.resolve(expression)));
        self.selectors.entry(expression).or_insert_with(compile).clone()
    }

    /// Evaluates a shape on the devices of a list, unless the list has the result.
    fn evaluate(&self, shape: usize, list: &mut DeviceList) {
        if list.epoch != self.epoch {
            list.columns.clear();
            list.epoch = self.epoch;
        }
        if list.columns.len() < self.shapes.len() {
            list.columns.resize(self.shapes.len(), None);
        }
        if list.columns[shape].is_none() {
            list.columns[shape] = Some(Column::evaluate(&self.shapes[shape], list));
        }
    }

    /// Returns the index of the shape of a request. Adds the shape if it is new.
    fn shape(&mut self, class: &DeviceClass, request: &ExactDeviceRequest, interner: &Interner) -> usize {
        let key = ShapeKey {
            class: class.name,
            selectors: request.selectors.clone(),
            capacity: request.capacity.clone(),
            tolerations: request.tolerations.clone(),
        };
        if let Some(at) = self.shape_keys.get(&key) {
            return *at;
        }
        let selectors = class.selectors.iter().chain(&request.selectors);
        let selectors = selectors.map(|selector| self.selector(selector.cel.unwrap_or_default(), interner));
        let shape = Shape {
            class: class.name,
            selectors: selectors.collect(),
            class_selectors: class.selectors.len(),
            capacity: request.capacity.clone(),
            tolerations: request.tolerations.clone(),
        };
        self.shapes.push(shape);
        self.shape_keys.insert(key, self.shapes.len() - 1);
        self.shapes.len() - 1
    }
}
