//! The loops over nodes that keep what they find: one plugin at a time, compiled once for all profiles that have it.

use super::Anew;
use crate::column::ColumnSet;
use crate::extension_points::FilterPlugin;
use crate::mask::{Mask, nodes_of};
use crate::plugin::Slices;
use crate::touched::Touched;

/// Asks a filter about nodes, and takes its verdicts down in `passing`.
///
/// # Errors
/// The filter failed with an error on one of them.
#[inline]
pub fn filter<P: FilterPlugin>(
    args: &P::Args,
    pod: &P::Pod,
    cycle: &<P as FilterPlugin>::Cycle,
    columns: Slices<'_, P>,
    nodes: &Touched,
    passing: &mut Mask,
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
        passing[word] = passing[word] & !bits | pass;
    }
    if failed { Err(Anew) } else { Ok(()) }
}
