//! The search for a single request without constraints. The result is the first free devices, so no search tree is
//! necessary. Several devices that consume shared counters depend on each other and need the complete search.

use crate::block::bits;
use crate::device_list::BlockUse;
use crate::input::Input;
use crate::prepared::{Alternative, Prepared, PreparedRequest};
use crate::search::{MAX_DEVICES, Pick, Scratch, score};

/// Outcome of a search for an alternative.
enum Found {
    /// The devices are in `picks`.
    Enough,
    TooFew,
    /// Only a complete search can decide.
    Unknown,
}

/// Searches for devices for claims with a single request, and leaves them in `scratch`. Returns the score of the chosen
/// alternative, or `Some(None)` if there are too few devices. `None`: a complete search is necessary. The claims have
/// several requests, constraints, admin access or a request for all devices; a selector fails on a free device; or several
/// devices consume counters.
pub(crate) fn search_single(input: &Input<'_>, scratch: &mut Scratch) -> Option<Option<i64>> {
    let request = single_request(input.prepared)?;
    scratch.reset_for_single(input.view.pools.len());
    for (at, alternative) in request.alternatives.iter().enumerate() {
        match find(input, at, alternative, scratch) {
            Found::Enough => {
                scratch.chosen.push(at);
                return Some(Some(score(request, at)));
            }
            Found::TooFew => {}
            Found::Unknown => return None,
        }
    }
    Some(None)
}

/// Returns the only request of claims, if the search for its devices is simple.
pub(crate) fn single_request(prepared: &Prepared) -> Option<&PreparedRequest> {
    let [claim] = &prepared.claims[..] else { return None };
    let [request] = &claim.requests[..] else { return None };
    let is_simple = |alternative: &Alternative| {
        alternative.error.is_none()
            && !alternative.admin_access
            && alternative.count.is_some_and(|count| (1..=MAX_DEVICES).contains(&count))
    };
    let is_single = claim.constraints.is_empty() && !request.alternatives.is_empty();
    (is_single && request.alternatives.iter().all(is_simple)).then_some(request)
}

/// Searches for the devices of an alternative.
fn find(input: &Input<'_>, at: usize, alternative: &Alternative, scratch: &mut Scratch) -> Found {
    let count = alternative.count.unwrap_or(0);
    scratch.picks.clear();
    for (block_at, view) in input.view.blocks.iter().enumerate() {
        let BlockUse { free, is_consumed } = input.tables.uses[view.number];
        if free == 0 {
            continue;
        }
        let column = input.column_of_list(view.list, alternative);
        if column.failing & free != 0 {
            return Found::Unknown;
        }
        let candidates = column.selected & view.visible & !column.tainted & free;
        if candidates & input.tables.lists[view.list].special == 0 && !is_consumed {
            let missing = count as usize - scratch.picks.len();
            let picks = bits(candidates).take(missing).map(|bit| Pick::single(at, (block_at, bit), None));
            scratch.picks.extend(picks);
            if scratch.picks.len() as i64 == count {
                return Found::Enough;
            }
            continue;
        }
        let block = input.block(block_at);
        for bit in bits(candidates) {
            let consumed = column.consumed(bit);
            if (consumed.is_some() || !block.consumed.is_empty()) && !input.has_free_capacity(alternative, block, bit) {
                continue;
            }
            // Claims that already share the device took its counters.
            let is_shared = block.shareable & 1 << bit != 0 && block.consumed(bit).is_some();
            if block.consumers & 1 << bit != 0 && !is_shared {
                if count > 1 {
                    return Found::Unknown;
                }
                let pool = &input.pools[input.view.pools[view.pool].pool];
                let consumption = &view.consumption[bit as usize];
                if !scratch.counters.take(input.view, pool, view.pool, consumption) {
                    continue;
                }
            }
            scratch.picks.push(Pick::single(at, (block_at, bit), consumed.cloned()));
            if scratch.picks.len() as i64 == count {
                return Found::Enough;
            }
        }
    }
    Found::TooFew
}
