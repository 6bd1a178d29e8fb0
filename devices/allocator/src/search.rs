//! The search for devices: depth first, with complete backtracking. The first solution is the result.

use crate::block::{bits, bits_from};
use crate::column::Amounts;
use crate::constraint::ConstraintState;
use crate::counters::Counters;
use crate::error::{Failure, Unfit};
use crate::input::{Input, device_id};
use crate::interchange::Classes;
use crate::pool::PoolStatus;
use crate::prepared::{Alternative, PreparedRequest};
use crate::single_request::search_single;

/// Maximum number of devices of a claim.
pub(crate) const MAX_DEVICES: i64 = 32;
/// Number of steps after which a search skips devices that are interchangeable with one that failed.
const LONG_SEARCH: u32 = 32;
/// Number of steps between two checks of the deadline.
pub const STEPS_PER_CHECK: u32 = 256;
/// Score of the first alternative of a request. Each later alternative scores 1 less than the one before.
const FIRST_ALTERNATIVE: i64 = 8;

/// A device of a solution.
#[derive(Clone, Debug)]
pub(crate) struct Pick {
    pub(crate) claim: usize,
    pub(crate) request: usize,
    pub(crate) alternative: usize,
    /// Position of its block in the view.
    pub(crate) block: usize,
    pub(crate) bit: u32,
    /// Consumed capacity of a device that several claims may share.
    pub(crate) consumed: Option<Amounts>,
    /// Whether its counters were taken.
    is_counted: bool,
}

impl Pick {
    /// Makes a pick for an alternative of the only request. `device`: position of its block in the view, and its bit.
    pub(crate) fn single(alternative: usize, device: (usize, u32), consumed: Option<Amounts>) -> Pick {
        let (block, bit) = device;
        Pick { claim: 0, request: 0, alternative, block, bit, consumed, is_counted: false }
    }
}

/// Memory that searches reuse.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) picks: Vec<Pick>,
    /// Chosen alternative of each request, in the order of the claims.
    pub(crate) chosen: Vec<usize>,
    /// First request of each claim in `chosen`, and first constraint in `constraints`.
    firsts: Vec<(usize, usize)>,
    /// Number of devices of each alternative.
    counts: Vec<i64>,
    /// For each alternative that requests all devices, the range of its devices in `all`.
    ranges: Vec<(usize, usize)>,
    all: Vec<(usize, u32)>,
    /// Devices that each claim takes exclusively, by claim and block.
    taken: Vec<u64>,
    /// Devices that any claim takes exclusively, by block.
    taken_by_any: Vec<u64>,
    /// Number of devices of each claim.
    numbers: Vec<i64>,
    constraints: Vec<ConstraintState>,
    pub(crate) counters: Counters,
    classes: Classes,
    /// Classes of the devices that failed, for each level of the search.
    failed: Vec<u32>,
}

/// Reason to end the search, or a part of it.
enum Stop {
    /// The claim would have too many devices, regardless of which ones are allocated.
    TooMany,
    Failed(Box<Failure>),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Failed(Box::new(failure))
    }
}

/// Place in the search: the claim, request, alternative and device that come next.
#[derive(Clone, Copy, Default)]
struct Place {
    claim: usize,
    request: usize,
    alternative: usize,
    device: i64,
    /// Whether the alternative is chosen.
    is_chosen: bool,
}

struct Search<'a, 's, D> {
    input: Input<'a>,
    scratch: &'s mut Scratch,
    is_expired: D,
    steps: u32,
}

/// Searches for devices, and leaves them in `scratch`. Returns the score of the chosen alternatives. The search fails
/// when `is_expired` returns true.
pub(crate) fn search(input: Input<'_>, scratch: &mut Scratch, is_expired: impl FnMut() -> bool) -> Result<i64, Unfit> {
    let is_invalid = || input.view.pools.iter().any(|pool| pool.status == PoolStatus::Invalid);
    let unfit = || if is_invalid() { Unfit::InvalidPools } else { Unfit::NoDevices };
    if let Some(found) = search_single(&input, scratch) {
        return found.ok_or_else(unfit);
    }
    scratch.reset(&input);
    let mut search = Search { input, scratch, is_expired, steps: 0 };
    search.count()?;
    let first = (0, 0);
    match search.next(Place::default(), first) {
        Ok(true) => Ok(search.score()),
        Ok(false) | Err(Stop::TooMany) => Err(unfit()),
        Err(Stop::Failed(failure)) => Err(Unfit::Failed(*failure)),
    }
}

impl Scratch {
    fn reset(&mut self, input: &Input<'_>) {
        let (prepared, blocks) = (input.prepared, input.view.blocks.len());
        self.picks.clear();
        self.firsts.clear();
        let (mut requests, mut constraints) = (0, 0);
        for claim in &prepared.claims {
            self.firsts.push((requests, constraints));
            requests += claim.requests.len();
            for constraint in 0..claim.constraints.len() {
                let at = constraints + constraint;
                if at == self.constraints.len() {
                    self.constraints.push(ConstraintState::default());
                }
                self.constraints[at].reset(claim.requests.len());
            }
            constraints += claim.constraints.len();
        }
        fill(&mut self.chosen, requests, 0);
        fill(&mut self.counts, prepared.alternatives, 0);
        fill(&mut self.ranges, prepared.alternatives, (0, 0));
        self.all.clear();
        fill(&mut self.taken, prepared.claims.len() * blocks, 0);
        fill(&mut self.taken_by_any, blocks, 0);
        fill(&mut self.numbers, prepared.claims.len(), 0);
        self.counters.reset(input.view.pools.len());
        self.classes.reset();
        self.failed.clear();
    }

    /// Resets the fields that a search for a single request uses.
    pub(crate) fn reset_for_single(&mut self, pools: usize) {
        self.picks.clear();
        self.chosen.clear();
        fill(&mut self.firsts, 1, (0, 0));
        self.counters.reset(pools);
    }

    /// Returns the position of a request in `chosen`.
    pub(crate) fn request(&self, claim: usize, request: usize) -> usize {
        self.firsts[claim].0 + request
    }
}

fn fill<T: Clone>(vec: &mut Vec<T>, len: usize, value: T) {
    vec.clear();
    vec.resize(len, value);
}

impl<'a, D: FnMut() -> bool> Search<'a, '_, D> {
    /// Determines the number of devices of each alternative, and the devices of requests for all devices.
    fn count(&mut self) -> Result<(), Failure> {
        for (claim_at, claim) in self.input.prepared.claims.iter().enumerate() {
            let mut least = 0_i64;
            for request in &claim.requests {
                if request.alternatives.is_empty() {
                    let name = self.input.interner.resolve(request.name);
                    return Err(Failure::of_claim(claim_at, format!(", request {name}: unknown request type")));
                }
                let mut least_of_request = i64::MAX;
                for alternative in &request.alternatives {
                    alternative.check(claim_at)?;
                    let count = match alternative.count {
                        Some(count) => count,
                        None => self.gather_all(claim_at, alternative)?,
                    };
                    self.scratch.counts[alternative.at] = count;
                    least_of_request = least_of_request.min(count);
                }
                least = least.saturating_add(least_of_request);
            }
            if least > MAX_DEVICES {
                return Err(Failure::of_claim(
                    claim_at,
                    format!(": number of requested devices {least} exceeds the claim limit of {MAX_DEVICES}"),
                ));
            }
            if let Some(at) = claim.constraints.iter().position(|constraint| constraint.attribute.is_none()) {
                return Err(Failure::of_claim(
                    claim_at,
                    format!(", constraint #{at}: empty constraint (unsupported constraint type?)"),
                ));
            }
        }
        Ok(())
    }

    /// Collects the devices of a request for all devices.
    fn gather_all(&mut self, claim: usize, alternative: &Alternative) -> Result<i64, Failure> {
        let first = self.scratch.all.len();
        for pool in &self.input.view.pools {
            let problem = match pool.status {
                PoolStatus::Ready => None,
                PoolStatus::Incomplete => Some("being updated"),
                PoolStatus::Invalid => Some("invalid"),
            };
            if let Some(problem) = problem {
                let name = self.input.interner.resolve(alternative.name);
                let (driver, pool) = &self.input.pools[pool.pool].texts;
                return Err(Failure::of_claim(
                    claim,
                    format!(
                        ", request {name}: asks for all devices, but resource pool {driver}/{pool} is currently {problem}"
                    ),
                ));
            }
            for at in pool.blocks.clone() {
                let block = self.input.block(at);
                let column = self.input.column(block, alternative);
                if column.failing != 0 {
                    let bit = column.failing.trailing_zeros();
                    return Err(self.input.selector_failure(claim, alternative, block, bit));
                }
                for bit in bits(column.selected & self.input.view.blocks[at].visible) {
                    if self.has_capacity(at, alternative, bit) {
                        self.scratch.all.push((at, bit));
                    }
                }
            }
        }
        self.scratch.ranges[alternative.at] = (first, self.scratch.all.len());
        Ok((self.scratch.all.len() - first) as i64)
    }

    /// Searches for the devices of this place and of all later places. Returns whether there is a solution. `start`:
    /// block and bit of the first device to try.
    fn next(&mut self, place: Place, start: (usize, u32)) -> Result<bool, Stop> {
        self.steps = self.steps.wrapping_add(1);
        if self.steps.is_multiple_of(STEPS_PER_CHECK) && (self.is_expired)() {
            return Err(Failure::interrupted().into());
        }
        if self.steps == LONG_SEARCH {
            self.scratch.classes.determine(&self.input);
        }
        let prepared = self.input.prepared;
        let Some(claim) = prepared.claims.get(place.claim) else { return Ok(true) };
        let Some(request) = claim.requests.get(place.request) else {
            let next = Place { claim: place.claim + 1, ..Place::default() };
            return match self.next(next, (0, 0)) {
                Err(Stop::TooMany) => Ok(false),
                result => result,
            };
        };
        if request.is_list && !place.is_chosen {
            return self.choose(place, request);
        }
        let alternative = &request.alternatives[place.alternative];
        let count = self.scratch.counts[alternative.at];
        if alternative.count.is_none() && count == 0 {
            return Ok(false);
        }
        if place.device >= count {
            let next = Place { claim: place.claim, request: place.request + 1, ..Place::default() };
            return self.next(next, (0, 0));
        }
        if self.scratch.numbers[place.claim] + count - place.device > MAX_DEVICES {
            return Err(Stop::TooMany);
        }
        match alternative.count {
            None => self.take_all(place, alternative),
            Some(count) => {
                let failed = self.scratch.failed.len();
                let result = self.try_devices(place, alternative, count, start);
                self.scratch.failed.truncate(failed);
                result
            }
        }
    }

    /// Tries the alternatives of a request.
    fn choose(&mut self, place: Place, request: &PreparedRequest) -> Result<bool, Stop> {
        let mut all_exceed = true;
        for alternative in 0..request.alternatives.len() {
            match self.next(Place { alternative, is_chosen: true, ..place }, (0, 0)) {
                Err(Stop::TooMany) => {}
                Ok(false) => all_exceed = false,
                Ok(true) => {
                    let at = self.scratch.request(place.claim, place.request);
                    self.scratch.chosen[at] = alternative;
                    return Ok(true);
                }
                Err(stop) => return Err(stop),
            }
        }
        if all_exceed { Err(Stop::TooMany) } else { Ok(false) }
    }

    /// Takes the next device of a request for all devices.
    fn take_all(&mut self, place: Place, alternative: &Alternative) -> Result<bool, Stop> {
        let (first, _) = self.scratch.ranges[alternative.at];
        let (at, bit) = self.scratch.all[first + place.device as usize];
        let is_busy = self.busy(place.claim, alternative, at) & 1 << bit != 0;
        let has_capacity = self.has_capacity(at, alternative, bit);
        if is_busy || !self.take(place, at, bit, true)? {
            return Ok(false);
        }
        // The capacity is checked last, because an unmet constraint is an error whether or not the device has capacity.
        if !has_capacity {
            self.give_back();
            return Ok(false);
        }
        let result = self.next(Place { device: place.device + 1, ..place }, (0, 0));
        if !matches!(result, Ok(true)) {
            self.give_back();
        }
        result
    }

    /// Tries devices in order.
    fn try_devices(
        &mut self,
        place: Place,
        alternative: &Alternative,
        count: i64,
        start: (usize, u32),
    ) -> Result<bool, Stop> {
        let input = self.input;
        let failed = self.scratch.failed.len();
        if self.lacks_devices(place, alternative, count - place.device, start) {
            return Ok(false);
        }
        for at in start.0..input.view.blocks.len() {
            let block = input.block(at);
            let column = input.column(block, alternative);
            let candidates = column.failing | column.selected & input.view.blocks[at].visible;
            let first = if at == start.0 { start.1 } else { 0 };
            for bit in bits(candidates & !self.busy(place.claim, alternative, at) & bits_from(first)) {
                if column.failing & 1 << bit != 0 {
                    return Err(input.selector_failure(place.claim, alternative, block, bit).into());
                }
                let class = self.scratch.classes.of(at, bit);
                if class.is_some_and(|class| self.scratch.failed[failed..].contains(&class)) {
                    continue;
                }
                if !self.has_capacity(at, alternative, bit) || !self.take(place, at, bit, false)? {
                    self.scratch.failed.extend(class);
                    continue;
                }
                let result = self.next(Place { device: place.device + 1, ..place }, (at, bit + 1));
                if matches!(result, Ok(true)) {
                    return result;
                }
                self.give_back();
                result?;
                self.scratch.failed.extend(self.scratch.classes.of(at, bit));
            }
        }
        Ok(false)
    }

    /// Returns whether fewer than `needed` devices remain; then, trying them is useless. Returns false if trying a
    /// device can have another effect: an error, or a change of a constraint.
    fn lacks_devices(&self, place: Place, alternative: &Alternative, needed: i64, start: (usize, u32)) -> bool {
        let claim = &self.input.prepared.claims[place.claim];
        // A device that is taken and given back changes these constraints.
        if claim.constraints.iter().any(|constraint| constraint.is_distinct) {
            return false;
        }
        let mut remaining = 0;
        for at in start.0..self.input.view.blocks.len() {
            let column = self.input.column(self.input.block(at), alternative);
            let first = if at == start.0 { start.1 } else { 0 };
            let free = !self.busy(place.claim, alternative, at) & bits_from(first);
            if column.failing & free != 0 {
                return false;
            }
            remaining +=
                i64::from((column.selected & !column.tainted & self.input.view.blocks[at].visible & free).count_ones());
            if remaining >= needed {
                return false;
            }
        }
        true
    }

    /// Returns the devices of a block that are not available to a claim.
    fn busy(&self, claim: usize, alternative: &Alternative, at: usize) -> u64 {
        if alternative.admin_access {
            self.scratch.taken[claim * self.input.view.blocks.len() + at]
        } else {
            self.input.block(at).in_use | self.scratch.taken_by_any[at]
        }
    }

    /// Returns whether a device has enough capacity for the amounts that a request consumes.
    fn has_capacity(&self, at: usize, alternative: &Alternative, bit: u32) -> bool {
        let picked = self.scratch.picks.iter().filter(|pick| (pick.block, pick.bit) == (at, bit));
        let picked = picked.filter_map(|pick| pick.consumed.as_deref());
        self.input.has_capacity(alternative, self.input.block(at), bit, picked)
    }

    /// Takes the device at `bit` of the block at position `at`, if the device is available. Returns whether it was
    /// taken. `is_required`: an unmet constraint is an error.
    fn take(&mut self, place: Place, at: usize, bit: u32, is_required: bool) -> Result<bool, Stop> {
        let input = self.input;
        let claim = &input.prepared.claims[place.claim];
        let request = &claim.requests[place.request];
        let alternative = &request.alternatives[place.alternative];
        let (view, block) = (&input.view.blocks[at], input.block(at));
        let column = input.column(block, alternative);
        if column.tainted & 1 << bit != 0 {
            return Ok(false);
        }
        let is_shareable = block.shareable & 1 << bit != 0;
        let is_shared = is_shareable
            && (block.consumed(bit).is_some()
                || self
                    .scratch
                    .picks
                    .iter()
                    .any(|pick| (pick.block, pick.bit) == (at, bit) && pick.consumed.is_some()));
        let is_counted = block.consumers & 1 << bit != 0 && !is_shared;
        if is_counted {
            let pool = &input.pools[input.view.pools[view.pool].pool];
            if !self.scratch.counters.take(input.view, pool, view.pool, &view.consumption[bit as usize]) {
                return Ok(false);
            }
        }
        let first = self.scratch.firsts[place.claim].1;
        for (constraint_at, constraint) in claim.constraints.iter().enumerate() {
            let states = &mut self.scratch.constraints[first..];
            if states[constraint_at].add(constraint, alternative.reference, request.first_with_name, block, bit) {
                continue;
            }
            if is_required {
                let (name, device) = (input.interner.resolve(alternative.name), device_id(block, bit, input.interner));
                return Err(Failure::of_claim(
                    place.claim,
                    format!(
                        ", request {name}: cannot add device {device} because a claim constraint would not be satisfied"
                    ),
                )
                .into());
            }
            for (constraint, state) in claim.constraints[..constraint_at].iter().zip(states) {
                state.remove(constraint, alternative.reference, request.first_with_name);
            }
            if is_counted {
                self.scratch.counters.give_back(view.pool, &view.consumption[bit as usize]);
            }
            return Ok(false);
        }
        if !is_shareable {
            self.scratch.taken[place.claim * input.view.blocks.len() + at] |= 1 << bit;
            self.scratch.taken_by_any[at] |= 1 << bit;
        }
        self.scratch.numbers[place.claim] += 1;
        self.scratch.picks.push(Pick {
            claim: place.claim,
            request: place.request,
            alternative: place.alternative,
            block: at,
            bit,
            consumed: column.consumed(bit).cloned(),
            is_counted,
        });
        Ok(true)
    }

    /// Undoes the latest [`Search::take`].
    fn give_back(&mut self) {
        let Some(pick) = self.scratch.picks.pop() else { return };
        let first = self.scratch.firsts[pick.claim].1;
        let claim = &self.input.prepared.claims[pick.claim];
        let request = &claim.requests[pick.request];
        let alternative = &request.alternatives[pick.alternative];
        for (constraint, state) in claim.constraints.iter().zip(&mut self.scratch.constraints[first..]) {
            state.remove(constraint, alternative.reference, request.first_with_name);
        }
        let blocks = self.input.view.blocks.len();
        self.scratch.taken[pick.claim * blocks + pick.block] &= !(1 << pick.bit);
        let is_taken = (0..self.input.prepared.claims.len())
            .any(|claim| self.scratch.taken[claim * blocks + pick.block] & 1 << pick.bit != 0);
        if !is_taken {
            self.scratch.taken_by_any[pick.block] &= !(1 << pick.bit);
        }
        self.scratch.numbers[pick.claim] -= 1;
        if pick.is_counted {
            let view = &self.input.view.blocks[pick.block];
            self.scratch.counters.give_back(view.pool, &view.consumption[pick.bit as usize]);
        }
    }

    /// Returns the score of the chosen alternatives.
    fn score(&self) -> i64 {
        let requests = self.input.prepared.claims.iter().flat_map(|claim| &claim.requests);
        requests.zip(&self.scratch.chosen).map(|(request, chosen)| score(request, *chosen)).sum()
    }
}

/// Returns the score of the chosen alternative of a request.
pub(crate) fn score(request: &PreparedRequest, chosen: usize) -> i64 {
    if request.is_list { FIRST_ALTERNATIVE - chosen as i64 } else { 0 }
}
