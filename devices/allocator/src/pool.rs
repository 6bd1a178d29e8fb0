//! Slices of a pool, and the claims that hold its devices.

use std::sync::Arc;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::map::{Map, Set};
use schedc_core::model::{DeviceRequestAllocationResult, QualifiedName, ResourceSlice};
use schedc_core::quantity::Quantity;
use smallvec::SmallVec;

use crate::block::{Block, Consumption};
use crate::device_list::BlockTables;

/// Driver and name of a pool.
pub(crate) type PoolKey = (Symbol, Symbol);

/// A pool with the slices of all generations.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) key: PoolKey,
    /// Texts of driver and name, by which pools are sorted.
    pub(crate) texts: (Arc<str>, Arc<str>),
    /// Slices, sorted by name.
    pub(crate) slices: Vec<PoolSlice>,
    /// Use of each device, also of devices that no slice has.
    uses: Map<Symbol, Use>,
    /// Places of devices in `slices`.
    places: Map<Symbol, SmallVec<[Place; 1]>>,
    pub(crate) reach: Reach,
}

/// Whether devices of a pool can be allocated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PoolStatus {
    #[default]
    Ready,
    /// The number of slices is not the expected one.
    Incomplete,
    /// Duplicate device names or counter sets, or missing counters.
    Invalid,
}

/// Nodes that a pool concerns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Nodes that its slices name.
    pub(crate) nodes: Vec<Symbol>,
    /// Whether a slice with devices can concern any node.
    pub(crate) is_wide: bool,
    /// Status on nodes that see only shared counters.
    pub(crate) foreign: PoolStatus,
}

#[derive(Debug)]
pub(crate) struct PoolSlice {
    pub(crate) name: Arc<str>,
    pub(crate) slice: Arc<ResourceSlice>,
    pub(crate) blocks: Vec<Block>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    slice: usize,
    block: usize,
    bit: u32,
}

/// Claims that hold a device.
#[derive(Clone, Debug, Default)]
struct Use {
    /// Number of claims that hold it exclusively.
    exclusive: u32,
    /// Number of claims that share it.
    shares: u32,
    /// Number of claims that consume capacity.
    consumers: u32,
    consumed: Consumption,
}

impl Pool {
    pub(crate) fn new(key: PoolKey, interner: &Interner) -> Pool {
        Pool {
            key,
            texts: (interner.share(key.0), interner.share(key.1)),
            slices: Vec::new(),
            uses: Map::default(),
            places: Map::default(),
            reach: Reach::default(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slices.is_empty() && self.uses.is_empty()
    }

    /// Adds or replaces a slice.
    pub(crate) fn set_slice(&mut self, slice: &Arc<ResourceSlice>, tables: &mut BlockTables, interner: &Interner) {
        self.remove_blocks(slice.name, tables);
        let blocks = Block::of(slice, tables, interner);
        let entry = PoolSlice { name: interner.share(slice.name), slice: slice.clone(), blocks };
        let at = self.slices.partition_point(|known| known.name < entry.name);
        self.slices.insert(at, entry);
        self.index(tables);
    }

    pub(crate) fn remove_slice(&mut self, name: Symbol, tables: &mut BlockTables) {
        self.remove_blocks(name, tables);
        self.index(tables);
    }

    fn remove_blocks(&mut self, slice: Symbol, tables: &mut BlockTables) {
        self.slices.retain(|known| {
            let is_kept = known.slice.name != slice;
            if !is_kept {
                known.blocks.iter().for_each(|block| tables.remove(block));
            }
            is_kept
        });
    }

    /// Derives `places`, `reach` and the use of the blocks' devices from `slices` and `uses`.
    fn index(&mut self, tables: &mut BlockTables) {
        self.places.clear();
        // Reserves the memory here, because growth during a decision is slow.
        let count: usize = self.slices.iter().map(|slice| slice.slice.devices.len()).sum();
        self.places.reserve(count);
        self.uses.reserve(count.saturating_sub(self.uses.len()));
        for (at, slice) in self.slices.iter_mut().enumerate() {
            for (block_at, block) in slice.blocks.iter_mut().enumerate() {
                (block.in_use, block.held) = (0, 0);
                block.consumed.clear();
                block.copy_use(tables);
                for (bit, device) in block.devices() {
                    self.places.entry(device.name).or_default().push(Place { slice: at, block: block_at, bit });
                }
            }
        }
        let used: Vec<Symbol> = self.uses.keys().copied().collect();
        used.into_iter().for_each(|device| self.mark(device, tables));
        let mut nodes: Vec<Symbol> = self.slices.iter().filter_map(|slice| local_node(&slice.slice)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let is_wide = |slice: &ResourceSlice| slice.shared_counters.is_empty() && local_node(slice).is_none();
        self.reach = Reach {
            nodes,
            is_wide: self.slices.iter().any(|slice| is_wide(&slice.slice)),
            foreign: foreign_status(self),
        };
    }

    /// Adds (`is_added`) or removes an allocation.
    pub(crate) fn change_use(
        &mut self,
        result: &DeviceRequestAllocationResult,
        is_added: bool,
        tables: &mut BlockTables,
    ) {
        let device = self.uses.entry(result.device).or_default();
        let count = |count: &mut u32| *count = if is_added { *count + 1 } else { count.saturating_sub(1) };
        if result.share_id.is_none() {
            count(&mut device.exclusive);
        } else {
            count(&mut device.shares);
            if !result.consumed_capacity.is_empty() {
                count(&mut device.consumers);
                device.consume(&result.consumed_capacity, is_added);
            }
        }
        self.mark(result.device, tables);
        if self.uses.get(&result.device).is_some_and(|device| device.exclusive == 0 && device.shares == 0) {
            self.uses.remove(&result.device);
        }
    }

    /// Copies the use of a device to its blocks.
    fn mark(&mut self, device: Symbol, tables: &mut BlockTables) {
        let Some(known) = self.uses.get(&device) else { return };
        for place in self.places.get(&device).into_iter().flatten() {
            let block = &mut self.slices[place.slice].blocks[place.block];
            let bit = 1 << place.bit;
            let set = |word: &mut u64, is_set: bool| if is_set { *word |= bit } else { *word &= !bit };
            set(&mut block.in_use, known.exclusive > 0);
            set(&mut block.held, known.exclusive > 0 || known.shares > 0);
            block.consumed.retain(|(other, _)| *other != place.bit);
            if known.consumers > 0 {
                block.consumed.push((place.bit, known.consumed.clone()));
            }
            block.copy_use(tables);
        }
    }
}

impl Use {
    fn consume(&mut self, amounts: &[(QualifiedName, Quantity)], is_added: bool) {
        for (name, amount) in amounts {
            let at = self.consumed.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
                self.consumed.push((*name, Quantity::ZERO));
                self.consumed.len() - 1
            });
            let total = &mut self.consumed[at].1;
            if is_added { total.add(*amount) } else { total.sub(*amount) }
        }
        if self.consumers == 0 {
            self.consumed.clear();
        }
    }
}

/// Returns the node of a slice whose devices are local to a node.
pub(crate) fn local_node(slice: &ResourceSlice) -> Option<Symbol> {
    slice.nodes.node.filter(|node| *node != Symbol::EMPTY)
}

/// Returns the status of a pool on nodes that see only its shared counters.
fn foreign_status(pool: &Pool) -> PoolStatus {
    let counters = (0..pool.slices.len()).filter(|&at| !pool.slices[at].slice.shared_counters.is_empty()).collect();
    match latest(pool, counters).and_then(|seen| status(pool, &seen)) {
        Some(Err(status)) => status,
        Some(Ok(_)) | None => PoolStatus::Ready,
    }
}

/// Returns those of the slices in `seen` that have the highest generation; `None` if `seen` is empty.
pub(crate) fn latest(pool: &Pool, mut seen: Vec<usize>) -> Option<Vec<usize>> {
    let generation = seen.iter().map(|&at| pool.slices[at].slice.generation).max()?;
    seen.retain(|&at| pool.slices[at].slice.generation == generation);
    Some(seen)
}

/// Checks a pool for a node that sees some slices of one generation. Returns the slices of this generation that the
/// node does not see, if the check needs them. `None`: there is a newer generation, or the node sees no slice.
pub(crate) fn status(pool: &Pool, seen: &[usize]) -> Option<Result<Vec<usize>, PoolStatus>> {
    let first = &pool.slices[*seen.first()?].slice;
    let mut others = Vec::new();
    if !is_slice_count(seen.len(), first) {
        if pool.slices.iter().any(|slice| slice.slice.generation > first.generation) {
            return None;
        }
        let is_other = |at: &usize| pool.slices[*at].slice.generation == first.generation && !seen.contains(at);
        others.extend((0..pool.slices.len()).filter(is_other));
        if !is_slice_count(seen.len() + others.len(), first) {
            return Some(Err(PoolStatus::Incomplete));
        }
    }
    let slice_of = |at: &usize| &pool.slices[*at];
    let is_valid = has_distinct_names(seen.iter().map(slice_of))
        && has_all_counters(seen.iter().map(slice_of), seen.iter().chain(&others).map(slice_of));
    Some(if is_valid { Ok(others) } else { Err(PoolStatus::Invalid) })
}

fn is_slice_count(number: usize, slice: &ResourceSlice) -> bool {
    i64::try_from(number) == Ok(slice.slice_count)
}

fn has_distinct_names<'a>(slices: impl Iterator<Item = &'a PoolSlice>) -> bool {
    let mut names = Set::default();
    let mut devices =
        slices.filter(|slice| slice.slice.shared_counters.is_empty()).flat_map(|slice| slice.slice.devices.iter());
    devices.all(|device| names.insert(device.name))
}

/// Returns whether `seen` defines no counter set twice, and defines every counter that a device in `all` consumes.
fn has_all_counters<'a>(seen: impl Iterator<Item = &'a PoolSlice>, all: impl Iterator<Item = &'a PoolSlice>) -> bool {
    let sets: Vec<_> = seen.flat_map(|slice| slice.slice.shared_counters.iter()).collect();
    let mut names = Set::default();
    if !sets.iter().all(|set| names.insert(set.name)) {
        return false;
    }
    let mut consumed =
        all.flat_map(|slice| slice.slice.devices.iter()).flat_map(|device| device.consumes_counters.iter());
    consumed.all(|consumed| {
        let set = sets.iter().find(|set| set.name == consumed.name);
        let is_defined = |name| set.is_some_and(|set| set.counters.iter().any(|(known, _)| *known == name));
        set.is_some() && consumed.counters.iter().all(|(name, _)| is_defined(*name))
    })
}
