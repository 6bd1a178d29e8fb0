//! What generated code does with one plugin's part of a kept answer: compiled once for all profiles that have the plugin.

use super::{Anew, Changed, Rescore, UpdateScratch, Verdicts};
use crate::column::ColumnSet;
use crate::extension_points::{
    FilterPlugin, MAX_NODE_SCORE, PreFilterPlugin, PreScorePlugin, PrepareScore, ScoreError, ScorePlugin,
};
use crate::mask::{Mask, nodes_of};
use crate::plugin::{Slices, Slot, View};
use crate::touched::Touched;

/// Asks a filter about nodes, and takes its verdicts down in `passing`. `dirty` takes those whose verdict is another one.
///
/// # Errors
/// The filter failed with an error on one of them.
#[inline(always)]
pub fn filter<P: FilterPlugin>(
    args: &P::Args,
    pod: &P::Pod,
    cycle: &<P as FilterPlugin>::Cycle,
    columns: Slices<'_, P>,
    nodes: &Touched,
    passing: &mut Mask,
    dirty: &mut Touched,
) -> Result<(), Anew> {
    if nodes.is_empty() { Ok(()) } else { filter_some::<P>(args, pod, cycle, columns, nodes, passing, dirty) }
}

/// Asks a filter without PreFilter about changed nodes. Where pods came and went, a filter that reads nothing of pods has
/// the verdict that it had.
///
/// # Errors
/// The filter failed with an error on one of them.
#[inline(always)]
pub fn filter_changed<P: FilterPlugin>(
    args: &P::Args,
    pod: &P::Pod,
    cycle: &<P as FilterPlugin>::Cycle,
    columns: Slices<'_, P>,
    passing: &mut Mask,
    work: &mut UpdateScratch,
) -> Result<(), Anew> {
    let nodes = if P::Columns::OF_NODE_ALONE { &work.themselves } else { &work.touched };
    filter::<P>(args, pod, cycle, columns, nodes, passing, &mut work.dirty)
}

fn filter_some<P: FilterPlugin>(
    args: &P::Args,
    pod: &P::Pod,
    cycle: &<P as FilterPlugin>::Cycle,
    columns: Slices<'_, P>,
    nodes: &Touched,
    passing: &mut Mask,
    dirty: &mut Touched,
) -> Result<(), Anew> {
    let passing = passing.words_mut();
    let mut failed = false;
    for (word, bits) in nodes.words() {
        let mut pass = 0;
        for node in nodes_of(word, bits) {
            match P::filter(args, pod, cycle, P::Columns::row(columns, node.get())) {
                Ok(()) => pass |= 1 << (node.0 % 64),
                // Folds away for plugins that never fail.
                Err(rejection) => failed |= !P::code(&rejection).is_rejected(),
            }
        }
        let flipped = (passing[word] ^ pass) & bits;
        passing[word] ^= flipped;
        dirty.insert_word(word, flipped);
    }
    if failed { Err(Anew) } else { Ok(()) }
}

/// Brings a filter's state and verdicts up to date.
///
/// # Errors
/// The plugin cannot, or its filter failed with an error.
#[inline(always)]
pub fn update_filter<'v, P, C>(
    plugin: &P,
    args: &P::Args,
    pod: &P::Pod,
    slot: &mut Slot<C>,
    view: impl Fn() -> View<'v, P>,
    passing: &mut Mask,
    work: &mut UpdateScratch,
) -> Result<(), Anew>
where
    P: PreFilterPlugin<Cycle = C> + FilterPlugin<Cycle = C>,
{
    update_state(plugin, args, pod, slot, &view, passing, work)?;
    if slot.skip {
        return Ok(());
    }
    let of_node_alone = P::READS_POD_ALONE && P::Columns::OF_NODE_ALONE;
    let nodes = if of_node_alone { &work.themselves } else { &work.touched };
    if work.again.is_empty() {
        return filter::<P>(args, pod, &slot.state, view().columns, nodes, passing, &mut work.dirty);
    }
    let alive = view().base.alive().words();
    work.again.retain(|word, bits| bits & alive.get(word).copied().unwrap_or(0));
    work.dirty.extend(&work.again);
    work.again.extend(nodes);
    filter::<P>(args, pod, &slot.state, view().columns, &work.again, passing, &mut work.dirty)?;
    work.again.clear();
    Ok(())
}

/// Brings the state of a plugin up to date. What its Filter would be asked about stays in `work.again`.
///
/// # Errors
/// It cannot.
#[inline(always)]
pub fn update_state<'v, P: PreFilterPlugin>(
    plugin: &P,
    args: &P::Args,
    pod: &P::Pod,
    slot: &mut Slot<P::Cycle>,
    view: impl Fn() -> View<'v, P>,
    passing: &mut Mask,
    work: &mut UpdateScratch,
) -> Result<(), Anew> {
    if P::is_at_rest(pod, slot) {
        return Ok(());
    }
    let view = view();
    let changed = Changed { nodes: &work.changed, themselves: work.nodes_changed };
    let mut verdicts = Verdicts::new(changed, passing, &mut work.again, &mut work.dirty, view.base.alive());
    plugin.update(args, pod, slot, view, &mut verdicts)
}

/// The nodes that a Score without PreScore is asked about: where pods came and went, one that sees nothing of pods says what
/// it said before.
#[inline(always)]
pub fn new_to_score<P: ScorePlugin>(work: &UpdateScratch) -> &Touched {
    if P::Columns::OF_NODE_ALONE { &work.fresh_themselves } else { &work.fresh }
}

/// The same for one whose state is PreScore's.
#[inline(always)]
pub fn new_after_pre_score<P: ScorePlugin + PreScorePlugin>(work: &UpdateScratch) -> &Touched {
    if P::READS_POD_ALONE { new_to_score::<P>(work) } else { &work.fresh }
}

/// Brings a score state up to date. Returns whether scores may be other ones: those of the nodes that are left in
/// `work.again`, to be cleared, and those of classes if `work.moved` says so.
///
/// # Errors
/// The plugin cannot.
#[inline(always)]
pub fn update_score<'v, P: PreScorePlugin>(
    plugin: &P,
    args: &P::Args,
    pod: &P::Pod,
    slot: &mut Slot<P::Cycle>,
    view: impl Fn() -> View<'v, P>,
    feasible: &Mask,
    work: &mut UpdateScratch,
) -> Result<bool, Anew> {
    if P::is_at_rest(pod) {
        return Ok(false);
    }
    plugin.update(args, pod, slot, view(), &mut rescore(feasible, work))?;
    Ok(narrow(feasible, work))
}

/// The same for facts that are looked up.
#[inline(always)]
pub fn update_facts<'v, P: PrepareScore>(
    plugin: &P,
    args: &P::Args,
    pod: &P::Pod,
    facts: &mut <P as ScorePlugin>::Cycle,
    view: impl Fn() -> View<'v, P>,
    feasible: &Mask,
    work: &mut UpdateScratch,
) -> bool {
    plugin.update(args, pod, facts, view(), &mut rescore(feasible, work));
    narrow(feasible, work)
}

#[inline(always)]
fn rescore<'a>(feasible: &'a Mask, work: &'a mut UpdateScratch) -> Rescore<'a> {
    work.moved = false;
    let changed = Changed { nodes: &work.changed, themselves: work.nodes_changed };
    Rescore::new(changed, feasible, &work.flipped, &mut work.again, &mut work.moved)
}

#[inline(always)]
fn narrow(feasible: &Mask, work: &mut UpdateScratch) -> bool {
    if work.again.is_empty() {
        return work.moved;
    }
    work.narrow(feasible);
    true
}

/// A score that needs no normalising, times its weight.
///
/// # Errors
/// It failed, or is out of range.
#[inline(always)]
pub fn weighted(score: Result<i64, ScoreError>, weight: i64) -> Result<i64, Anew> {
    match score {
        Ok(score) if (0..=MAX_NODE_SCORE).contains(&score) => Ok(score.wrapping_mul(weight)),
        _ => Err(Anew),
    }
}

/// Whether nodes are so few that a loop over them is not worth preparing.
#[inline(always)]
pub fn are_few(nodes: &Touched) -> bool {
    nodes.words().len() <= 4
}

/// Takes down what `score` says of nodes.
///
/// # Errors
/// As `score`.
#[inline(always)]
pub fn score_each(
    nodes: &Touched,
    scores: &mut [i64],
    mut score: impl FnMut(usize) -> Result<i64, Anew>,
) -> Result<(), Anew> {
    for (word, bits) in nodes.words() {
        for node in nodes_of(word, bits) {
            scores[node.get()] = score(node.get())?;
        }
    }
    Ok(())
}

/// The totals of the nodes of a whole word begin with these scores.
#[inline(always)]
pub fn begin_totals(word: usize, scores: &[i64], totals: &mut [i64]) {
    let first = word * 64;
    totals[first..first + 64].copy_from_slice(&scores[first..first + 64]);
}

/// The same where there are none.
#[inline(always)]
pub fn begin_totals_at_zero(word: usize, totals: &mut [i64]) {
    totals[word * 64..][..64].fill(0);
}

/// Sets the totals of the nodes `bits` of a word, one after the other.
#[inline(always)]
pub fn total_each(word: usize, bits: u64, totals: &mut [i64], total: impl Fn(usize) -> i64) {
    for node in nodes_of(word, bits) {
        totals[node.get()] = total(node.get());
    }
}
