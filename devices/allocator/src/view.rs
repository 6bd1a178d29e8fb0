//! Pools and devices that a node sees. The devices of a slice are in blocks of up to 64 ([`Block`]).

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{DeviceNodes, LabelsExt, Node, ResourceSlice, label_integer};
use schedc_core::quantity::Quantity;
use smallvec::SmallVec;

use crate::block::Block;
use crate::error::Failure;
use crate::pool::{Pool, PoolStatus, latest, status};

/// Amounts of counters, by the position of the counter.
pub(crate) type Amounts = Box<[(usize, Quantity)]>;

/// Pools and blocks that a node sees. Nodes with equal views have equal results.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NodeView {
    /// Pools in the order in which devices are tried.
    pub(crate) pools: Vec<PoolView>,
    /// Blocks of all pools that are ready.
    pub(crate) blocks: Vec<BlockView>,
    /// Keys of the blocks' lists of devices, each once.
    pub(crate) lists: SmallVec<[usize; 2]>,
    /// Whether a slice or device may have a node selector.
    pub(crate) has_selectors: bool,
}

/// A pool that a node sees.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PoolView {
    /// Key of the pool in the inventory.
    pub(crate) pool: usize,
    pub(crate) status: PoolStatus,
    /// Blocks in [`NodeView::blocks`].
    pub(crate) blocks: std::ops::Range<usize>,
    /// Whether a device has binding conditions.
    has_conditions: bool,
    has_selectors: bool,
    /// Limits of all shared counters.
    pub(crate) counters: Vec<Counter>,
    /// Positions (slice, and block in the slice) of the blocks with devices that consume counters. This includes devices
    /// of other nodes.
    pub(crate) consumers: Vec<(usize, usize)>,
}

/// A shared counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Counter {
    pub(crate) set: Symbol,
    pub(crate) name: Symbol,
    pub(crate) limit: Quantity,
}

/// A block that a node sees.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BlockView {
    /// Position of the pool in [`NodeView::pools`].
    pub(crate) pool: usize,
    pub(crate) slice: usize,
    pub(crate) block: usize,
    /// Key of the block's devices.
    pub(crate) list: usize,
    /// Key of the block's entry in `BlockTables::uses`.
    pub(crate) number: usize,
    /// Devices that can be used on the node.
    pub(crate) visible: u64,
    /// Counters that each device consumes: position in [`PoolView::counters`] and amount. Empty if none does.
    pub(crate) consumption: Box<[Amounts]>,
}

impl NodeView {
    /// Gathers the pools of a node. `pools` contains every pool that may have devices for the node.
    pub(crate) fn gather<'a>(
        node: &Node,
        pools: impl Iterator<Item = (usize, &'a Pool)>,
        interner: &Interner,
    ) -> Result<NodeView, Failure> {
        let mut gathered = Vec::new();
        for (key, pool) in pools {
            if let Some(view) = gather_pool(key, pool, node, interner)? {
                gathered.push((pool, view));
            }
        }
        gathered.sort_by(|(a, a_view), (b, b_view)| {
            (a_view.0.has_conditions, &a.texts).cmp(&(b_view.0.has_conditions, &b.texts))
        });
        let mut view = NodeView { pools: Vec::new(), blocks: Vec::new(), lists: SmallVec::new(), has_selectors: false };
        for (_, (mut pool, mut blocks)) in gathered {
            blocks.iter_mut().for_each(|block| block.pool = view.pools.len());
            pool.blocks = view.blocks.len()..view.blocks.len() + blocks.len();
            view.blocks.append(&mut blocks);
            view.has_selectors |= pool.has_selectors;
            view.pools.push(pool);
        }
        view.lists.extend(view.blocks.iter().map(|block| block.list));
        view.lists.sort_unstable();
        view.lists.dedup();
        view.lists.shrink_to_fit();
        Ok(view)
    }
}

/// Returns a pool as a node sees it. `None`: it has nothing for the node, or only obsolete slices.
fn gather_pool(
    key: usize,
    pool: &Pool,
    node: &Node,
    interner: &Interner,
) -> Result<Option<(PoolView, Vec<BlockView>)>, Failure> {
    let mut seen = Vec::new();
    for (at, slice) in pool.slices.iter().enumerate() {
        if is_relevant(&slice.slice, node, interner)? {
            seen.push(at);
        }
    }
    let Some(seen) = latest(pool, seen) else { return Ok(None) };
    let mut view = PoolView {
        pool: key,
        status: PoolStatus::Ready,
        blocks: 0..0,
        has_conditions: false,
        has_selectors: false,
        counters: Vec::new(),
        consumers: Vec::new(),
    };
    let others = match status(pool, &seen) {
        Some(Ok(others)) => others,
        Some(Err(status)) => {
            view.status = status;
            return Ok(Some((view, Vec::new())));
        }
        None => return Ok(None),
    };
    let slice_of = |at: &usize| &pool.slices[*at];
    let has_devices = |at: &&usize| slice_of(at).slice.shared_counters.is_empty();
    for slice in seen.iter().map(slice_of) {
        for set in slice.slice.shared_counters.iter() {
            let counter = |&(name, limit): &(Symbol, Quantity)| Counter { set: set.name, name, limit };
            view.counters.extend(set.counters.iter().map(counter));
        }
    }
    let mut blocks = Vec::new();
    for &at in seen.iter().filter(has_devices) {
        let slice = &pool.slices[at].slice;
        view.has_selectors |= slice.per_device_nodes || slice.nodes.selector.is_some();
        for (block_at, block) in pool.slices[at].blocks.iter().enumerate() {
            view.has_conditions |= block.devices().any(|(_, device)| !device.binding_conditions.is_empty());
            let visible = visible(block, node, interner)?;
            let consumption = consumption(block, &view.counters);
            let (list, number) = (block.list, block.number);
            blocks.push(BlockView { pool: 0, slice: at, block: block_at, list, number, visible, consumption });
        }
    }
    for &at in seen.iter().filter(has_devices).chain(&others) {
        let consumers = pool.slices[at].blocks.iter().enumerate().filter(|(_, block)| block.consumers != 0);
        view.consumers.extend(consumers.map(|(block, _)| (at, block)));
    }
    Ok(Some((view, blocks)))
}

/// Returns the counters that each device of a block consumes.
fn consumption(block: &Block, counters: &[Counter]) -> Box<[Amounts]> {
    if block.consumers == 0 {
        return Box::default();
    }
    block.devices().map(|(bit, _)| consumed_counters(block, bit, counters).collect()).collect()
}

/// Returns the counters that a device consumes: index in `counters` and amount.
pub(crate) fn consumed_counters<'a>(
    block: &'a Block,
    bit: u32,
    counters: &'a [Counter],
) -> impl Iterator<Item = (usize, Quantity)> + 'a {
    block.device(bit).consumes_counters.iter().flat_map(move |set| {
        set.counters.iter().filter_map(move |&(name, amount)| {
            let at = counters.iter().position(|counter| (counter.set, counter.name) == (set.name, name))?;
            Some((at, amount))
        })
    })
}

/// Returns whether a node sees a slice.
fn is_relevant(slice: &ResourceSlice, node: &Node, interner: &Interner) -> Result<bool, Failure> {
    if !slice.shared_counters.is_empty() {
        return Ok(true);
    }
    let selects_nodes = crate::pool::local_node(slice).is_some() || slice.nodes.all || slice.nodes.selector.is_some();
    if selects_nodes {
        return matches(&slice.nodes, node, interner).map_err(|error| {
            let name = interner.resolve(slice.name);
            Failure::new(format!("gather pool information: failed to perform node selection for slice {name}: {error}"))
        });
    }
    if slice.per_device_nodes {
        for device in slice.devices.iter() {
            let is_match = matches(&device.nodes, node, interner).map_err(|error| {
                let (device, name) = (interner.resolve(device.name), interner.resolve(slice.name));
                Failure::new(format!(
                    "gather pool information: failed to perform node selection for device {device} in slice {name}: {error}"
                ))
            })?;
            if is_match {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns the devices of a block that a node can use.
pub(crate) fn visible(block: &Block, node: &Node, interner: &Interner) -> Result<u64, Failure> {
    if !block.slice.per_device_nodes {
        return Ok(block.all);
    }
    let mut visible = 0;
    for (bit, device) in block.devices() {
        visible |= u64::from(matches(&device.nodes, node, interner).map_err(Failure::new)?) << bit;
    }
    Ok(visible)
}

/// Returns whether a node is one of `nodes`, the nodes on which devices can be used.
pub(crate) fn matches(nodes: &DeviceNodes, node: &Node, interner: &Interner) -> Result<bool, String> {
    if let Some(name) = nodes.node.filter(|name| *name != Symbol::EMPTY) {
        return Ok(name == node.name);
    }
    if nodes.all {
        return Ok(true);
    }
    let Some(selector) = &nodes.selector else { return Ok(false) };
    match &selector.parsed {
        Err(error) => Err(format!("failed to parse node selector: {error}")),
        Ok(selector) => {
            let integer = |key| node.labels.value(key).and_then(|value| label_integer(interner, value));
            Ok(selector.matches(node.name, &node.labels, integer))
        }
    }
}
