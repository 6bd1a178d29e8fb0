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

use crate::changes::{Affected, Changes};
use crate::column::{Column, Compiled, Shape};
use crate::error::{Failure, Unfit};
use crate::input::Input;
use crate::pool::{Pool, PoolKey, Reach};
use crate::prepared::{Prepared, prepare};
use crate::result::{allocations, check_nodes};
use crate::search::{Scratch, search};
use crate::shared::{Verdicts, Views};
use crate::view::PoolStatus;

/// Number of different requests, and of different claims, whose results are cached. All are forgotten if more come.
const MAX_CACHED: usize = 512;

/// Devices of a cluster, the classes of devices, and the claims that hold devices.
#[derive(Debug, Default)]
pub struct Inventory {
    pools: Slab<Pool>,
    keys: Map<PoolKey, usize>,
    slices: Map<Symbol, Arc<ResourceSlice>>,
    classes: Map<Symbol, Arc<DeviceClass>>,
    /// Allocations by namespace and name of the claim.
    claims: Map<(Symbol, Symbol), Arc<AllocationResult>>,
    /// Pools with slices that name a node.
    local: Map<Symbol, BTreeSet<usize>>,
    /// Pools that can concern any node.
    wide: BTreeSet<usize>,
    /// Pools whose shared counters are incomplete or invalid, which concerns all nodes.
    problems: BTreeSet<usize>,
    /// Views of nodes that were evaluated.
    views: Views,
    verdicts: Verdicts,
    changes: Changes,
    cache: Cache,
    scratch: Scratch,
}

/// Compiled requests and claims.
#[derive(Debug, Default)]
struct Cache {
    /// Increases when the positions of shapes lose their meaning.
    epoch: u64,
    selectors: Map<Symbol, Compiled>,
    shapes: Vec<Shape>,
    shape_keys: Map<ShapeKey, usize>,
    prepared: Map<Box<[Arc<ResourceClaimSpec>]>, Arc<Prepared>>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ShapeKey {
    class: Symbol,
    selectors: Box<[DeviceSelector]>,
    capacity: Option<CapacityRequirements>,
    tolerations: Arc<[DeviceToleration]>,
}

/// A node on which devices can be allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Sum over requests with alternatives: 8 for the first alternative, 7 for the second, and so on.
    pub score: i64,
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
            self.change_pool((old.driver, old.pool), interner, |pool, _| pool.remove_slice(old.name));
        }
        self.change_pool(key, interner, |pool, interner| pool.set_slice(slice, interner));
    }

    /// Removes a slice.
    pub fn remove_slice(&mut self, name: Symbol, interner: &Interner) {
        if let Some(old) = self.slices.remove(&name) {
            self.change_pool((old.driver, old.pool), interner, |pool, _| pool.remove_slice(name));
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

    /// Sets the allocation of a claim, also one that is decided and not yet written. `None`: the claim is not allocated, or
    /// does not exist. Devices with admin access do not count.
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
                pool.change_use(result, is_added);
                let Reach { nodes, is_wide, .. } = &pool.reach;
                match is_wide {
                    true => self.changes.push(Affected::All),
                    false => nodes.iter().for_each(|node| self.changes.push(Affected::Node(*node))),
                }
                self.remove_if_empty(at);
            }
        }
    }

    /// Forgets what is cached for a node that no longer exists.
    pub fn remove_node(&mut self, name: Symbol) {
        self.views.remove(name);
    }

    /// Returns the number of changes so far: a position for [`Inventory::changes_since`].
    pub fn position(&self) -> u64 {
        self.changes.position()
    }

    /// Returns the nodes whose verdicts may have changed since a position. `None`: those of all nodes. A change of a node's
    /// labels affects its verdict too, and is not part of this log.
    pub fn changes_since(&self, position: u64) -> Option<&[Affected]> {
        self.changes.since(position)
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

    /// Decides whether devices for prepared claims can be allocated on a node. `is_expired` is asked from time to time
    /// whether to give up.
    ///
    /// # Errors
    /// If there are no devices on this node, or if the attempt fails.
    pub fn evaluate(
        &mut self,
        prepared: &Arc<Prepared>,
        node: &Node,
        interner: &Interner,
        is_expired: impl FnMut() -> bool,
    ) -> Result<Verdict, Unfit> {
        let prepared = self.current(prepared, interner);
        self.gather(node, interner)?;
        let position = self.changes.position();
        let shared = self.views.shared(node.name).cloned();
        if let Some(known) = shared.as_ref().and_then(|view| self.verdicts.get(view, &prepared, position)) {
            return known;
        }
        let (input, scratch) = self.input(&prepared, node, interner)?;
        let result = search(input, scratch, is_expired)
            .and_then(|score| Ok(check_nodes(&input, scratch).map(|()| Verdict { score })?));
        if let Some(view) = shared {
            self.verdicts.insert(view, &result);
        }
        result
    }

    /// Allocates devices for prepared claims on a node. `share_id` returns a new identifier of a share. The inventory changes
    /// only with [`Inventory::set_claim`].
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
    ) -> Result<Vec<AllocationResult>, Unfit> {
        let prepared = self.current(prepared, interner);
        let (input, scratch) = self.input(&prepared, node, interner)?;
        search(input, scratch, is_expired)?;
        Ok(allocations(&input, scratch, node.name, share_id)?)
    }

    /// Returns the claims as compiled for the current classes.
    pub(crate) fn current(&mut self, prepared: &Arc<Prepared>, interner: &Interner) -> Arc<Prepared> {
        match prepared.epoch == self.cache.epoch {
            true => prepared.clone(),
            false => self.prepare(&prepared.specs, interner),
        }
    }

    /// Brings the view of a node and the columns of its blocks up to date.
    pub(crate) fn input<'a>(
        &'a mut self,
        prepared: &'a Prepared,
        node: &Node,
        interner: &'a Interner,
    ) -> Result<(Input<'a>, &'a mut Scratch), Failure> {
        self.gather(node, interner)?;
        let Inventory { pools, views, cache, scratch, .. } = self;
        let view = views.view(node.name);
        for block in &view.blocks {
            let pool = &mut pools[view.pools[block.pool].pool];
            let block = &mut pool.slices[block.slice].blocks[block.block];
            if block.epoch != cache.epoch {
                block.columns.clear();
                block.epoch = cache.epoch;
            }
            if block.columns.len() < cache.shapes.len() {
                block.columns.resize(cache.shapes.len(), None);
            }
            for &shape in &prepared.shapes {
                if block.columns[shape].is_none() {
                    block.columns[shape] = Some(Column::evaluate(&cache.shapes[shape], block));
                }
            }
        }
        Ok((Input { pools, view, prepared, shapes: &cache.shapes, interner }, scratch))
    }

    /// Brings the view of a node up to date.
    fn gather(&mut self, node: &Node, interner: &Interner) -> Result<(), Failure> {
        if self.views.is_current(node) {
            return Ok(());
        }
        let local = self.local.get(&node.name).into_iter().flatten();
        let pools: BTreeSet<usize> = local.chain(&self.wide).chain(&self.problems).copied().collect();
        let pools = pools.into_iter().map(|at| (at, &self.pools[at]));
        self.views.gather(node, pools, interner)
    }

    /// Changes the slices of a pool, and notes the nodes that this affects.
    fn change_pool(&mut self, key: PoolKey, interner: &Interner, change: impl FnOnce(&mut Pool, &Interner)) {
        let at = self.pool(key, interner);
        let old = std::mem::take(&mut self.pools[at].reach);
        change(&mut self.pools[at], interner);
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

    /// Position of a pool, which is added if it is new.
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
        self.prepared.clear();
    }

    /// Position of the shape of a request.
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
        let selectors = selectors.map(|selector| {
            let expression = selector.cel.unwrap_or_default();
            let compile = || Arc::new(Selector::compile(interner.resolve(expression)));
            self.selectors.entry(expression).or_insert_with(compile).clone()
        });
        let shape = Shape {
            class: class.name,
            selectors: selectors.collect(),
            of_class: class.selectors.len(),
            capacity: request.capacity.clone(),
            tolerations: request.tolerations.clone(),
        };
        self.shapes.push(shape);
        self.shape_keys.insert(key, self.shapes.len() - 1);
        self.shapes.len() - 1
    }
}
