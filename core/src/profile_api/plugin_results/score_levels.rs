//! Score classes of a plugin that normalises: the raw score of each, and its part of the totals.

use crate::model::map::Map;
use crate::plugin_api::extension_points::{Extent, MAX_NODE_SCORE, NormalizeScore, ScoreClass};
use crate::plugin_api::incremental::NeedsFullEvaluation;
use crate::profile_api::plugin_results::updates::to_part;

/// The raw score of the nodes of one class. [`ScoreLevels::INFEASIBLE`] is the level of infeasible nodes.
#[derive(Clone, Copy, Debug)]
struct ScoreLevel {
    class: ScoreClass,
    raw: i64,
    /// Number of nodes. A level without nodes is vacant and reused for another class.
    nodes: u32,
}

/// The levels of all classes with nodes.
#[derive(Debug)]
pub(super) struct ScoreLevels {
    all: Vec<ScoreLevel>,
    /// The weighted normalised score of each level: its part of the totals.
    weighted: Vec<i32>,
    of_class: Map<ScoreClass, u32>,
    vacant: Vec<u32>,
    /// Levels that have no weighted score yet.
    unnormalized: Vec<u32>,
    /// The level of the last lookup.
    latest: u32,
    /// The extremes for NormalizeScore.
    extent: Extent,
    staleness: Staleness,
}

/// Changes since the last normalisation, in addition to new levels. Each value includes the previous ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Staleness {
    /// Nothing.
    Current,
    /// The extremes may have changed: a level with an extreme raw score lost its last node, or nothing is normalised
    /// yet.
    Extremes,
    /// The raw scores of levels changed.
    RawScores,
}

impl Default for ScoreLevels {
    fn default() -> Self {
        let infeasible = ScoreLevel { class: ScoreClass(0), raw: 0, nodes: 0 };
        ScoreLevels {
            all: vec![infeasible],
            weighted: vec![0],
            of_class: Map::default(),
            vacant: Vec::new(),
            unnormalized: Vec::new(),
            latest: ScoreLevels::INFEASIBLE,
            extent: Extent::EMPTY,
            staleness: Staleness::Extremes,
        }
    }
}

impl ScoreLevels {
    /// The level of infeasible nodes.
    pub(super) const INFEASIBLE: u32 = 0;

    pub(super) fn clear(&mut self) {
        self.all.truncate(1);
        self.weighted.truncate(1);
        self.of_class.clear();
        self.vacant.clear();
        self.unnormalized.clear();
        (self.latest, self.staleness) = (ScoreLevels::INFEASIBLE, Staleness::Extremes);
    }

    pub(super) fn bytes(&self) -> usize {
        self.all.capacity() * (size_of::<ScoreLevel>() + size_of::<i32>() + 2 * size_of::<u32>())
            + self.of_class.capacity() * size_of::<(ScoreClass, u32)>()
    }

    #[inline(always)]
    pub(super) fn has_class(&self, level: u32, class: ScoreClass) -> bool {
        level != ScoreLevels::INFEASIBLE && self.all[level as usize].class == class
    }

    /// Adds a node to a class. Returns the level of the class.
    #[inline]
    pub(super) fn add_node(&mut self, class: ScoreClass, raw: impl FnOnce() -> i64) -> u32 {
        if !self.has_class(self.latest, class) {
            self.latest = match self.of_class.get(&class) {
                Some(&level) => level,
                None => self.add(class, raw()),
            };
        }
        self.all[self.latest as usize].nodes += 1;
        self.latest
    }

    #[cold]
    #[inline(never)]
    fn add(&mut self, class: ScoreClass, raw: i64) -> u32 {
        let new = ScoreLevel { class, raw, nodes: 0 };
        let level = match self.vacant.pop() {
            Some(level) => {
                self.all[level as usize] = new;
                self.weighted[level as usize] = 0;
                level
            }
            None => {
                self.all.push(new);
                self.weighted.push(0);
                self.all.len() as u32 - 1
            }
        };
        self.of_class.insert(class, level);
        self.unnormalized.push(level);
        level
    }

    /// Sets the number of nodes of a level.
    pub(super) fn set_nodes(&mut self, level: u32, nodes: usize) {
        self.all[level as usize].nodes = nodes as u32;
    }

    /// Removes a node from a level.
    #[inline]
    pub(super) fn remove_node(&mut self, level: u32) {
        if level == ScoreLevels::INFEASIBLE {
            return;
        }
        let entry = &mut self.all[level as usize];
        entry.nodes -= 1;
        if entry.nodes == 0 {
            let ScoreLevel { class, raw, .. } = *entry;
            if raw == self.extent.max || raw == self.extent.min {
                self.staleness = self.staleness.max(Staleness::Extremes);
            }
            self.of_class.remove(&class);
            self.vacant.push(level);
            self.latest = ScoreLevels::INFEASIBLE;
        }
    }

    /// Sets the current raw scores of all classes.
    pub(super) fn update_raw_scores(&mut self, raw_of: impl Fn(ScoreClass) -> i64) {
        for level in self.all.iter_mut().skip(1).filter(|level| level.nodes > 0) {
            let raw = raw_of(level.class);
            if raw != level.raw {
                self.staleness = Staleness::RawScores;
            }
            level.raw = raw;
        }
    }

    /// Returns whether all scores are normalised.
    #[inline(always)]
    pub(super) fn is_normalized(&self) -> bool {
        self.staleness == Staleness::Current && self.unnormalized.is_empty()
    }

    /// Normalises new and changed scores, and multiplies them by the weight. Stores the differences of changed weighted
    /// scores in `moved`, first those of new levels. Returns the number of new levels among them.
    ///
    /// # Errors
    /// A normalised score is out of range.
    #[inline]
    pub(super) fn normalize<P: NormalizeScore>(
        &mut self,
        args: &P::Args,
        weight: i64,
        moved: &mut Vec<(u32, i32)>,
    ) -> Result<usize, NeedsFullEvaluation> {
        moved.clear();
        let ScoreLevels { all, weighted, unnormalized, extent, staleness, .. } = self;
        let outside = |level: &ScoreLevel| {
            level.nodes > 0 && level.raw != P::IGNORED && !(extent.min..=extent.max).contains(&level.raw)
        };
        let mut weigh_all = *staleness == Staleness::RawScores;
        if *staleness != Staleness::Current || unnormalized.iter().any(|&level| outside(&all[level as usize])) {
            let before = *extent;
            *extent = Extent::EMPTY;
            let taking_part = all.iter().skip(1).filter(|level| level.nodes > 0 && level.raw != P::IGNORED);
            taking_part.for_each(|level| extent.include(level.raw));
            if !P::USES_MIN {
                extent.min = i64::MAX;
            }
            weigh_all |= *extent != before;
        }
        let weigh = |level: &ScoreLevel| {
            let normalized = P::normalize(args, *extent, level.raw);
            let is_valid = (0..=MAX_NODE_SCORE).contains(&normalized);
            if is_valid { to_part(normalized.wrapping_mul(weight)) } else { Err(NeedsFullEvaluation) }
        };
        for level in unnormalized.drain(..) {
            let at = level as usize;
            if all[at].nodes > 0 {
                let now = weigh(&all[at])?;
                let by = now.wrapping_sub(std::mem::replace(&mut weighted[at], now));
                if by != 0 {
                    moved.push((level, by));
                }
            }
        }
        let new = moved.len();
        if weigh_all {
            for (at, level) in all.iter().enumerate().skip(1).filter(|(_, level)| level.nodes > 0) {
                let now = weigh(level)?;
                let by = now.wrapping_sub(std::mem::replace(&mut weighted[at], now));
                if by != 0 {
                    moved.push((at as u32, by));
                }
            }
        }
        *staleness = Staleness::Current;
        Ok(new)
    }

    /// Returns the number of levels, vacant ones included.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns each level's part of the totals.
    #[inline(always)]
    pub(super) fn weighted(&self) -> &[i32] {
        &self.weighted
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::PodSpec;
    use crate::plugin_api::args::NoArgs;
    use crate::plugin_api::extension_points::{ScoreError, ScorePlugin, default_normalize};
    use crate::plugin_api::handle::Handle;
    use crate::plugin_api::plugin::{CompileContext, Plugin, Row};

    const WEIGHT: i64 = 3;

    /// Plugin for which less is better; a raw score of 7 is ignored.
    struct Fewest;

    impl Plugin for Fewest {
        const NAME: &'static str = "Fewest";
        type Args = NoArgs;
        type Columns = ();
        type Indexes = ();
        type Reads = ();
        type Pod = ();

        fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
            Ok(Fewest)
        }

        fn compile(_: &NoArgs, _: &PodSpec, _: CompileContext<'_, Self>) {}
    }

    impl ScorePlugin for Fewest {
        type Cycle = ();

        fn score(_: &NoArgs, _: &(), _: &(), _: Row<'_, Self>) -> Result<i64, ScoreError> {
            Ok(0)
        }
    }

    impl NormalizeScore for Fewest {
        const IGNORED: i64 = 7;

        fn normalize(_: &NoArgs, extent: Extent, raw: i64) -> i64 {
            if raw == Self::IGNORED { 0 } else { default_normalize(extent, true, raw) }
        }
    }

    #[derive(Clone, Debug)]
    enum Change {
        /// A node gets this class, or becomes infeasible.
        Node(usize, Option<usize>),
        /// The nodes of a class get this raw score.
        Class(usize, i64),
    }

    fn changes() -> impl Strategy<Value = Vec<Vec<Change>>> {
        let change = prop_oneof![
            (0..6_usize, prop::option::of(0..4_usize)).prop_map(|(node, class)| Change::Node(node, class)),
            (0..4_usize, 0..9_i64).prop_map(|(class, raw)| Change::Class(class, raw)),
        ];
        prop::collection::vec(prop::collection::vec(change, 0..5), 1..12)
    }

    #[test]
    fn a_weighted_score_that_is_too_large_for_a_total_requires_a_full_evaluation() {
        let mut levels = ScoreLevels::default();
        levels.add_node(ScoreClass(0), || 0);
        assert_eq!(levels.normalize::<Fewest>(&NoArgs, 100_000, &mut Vec::new()), Err(NeedsFullEvaluation));
    }

    proptest! {
        #[test]
        fn updated_levels_equal_new_levels(turns in changes()) {
            let mut raws = [0, 1, 2, Fewest::IGNORED];
            let mut classes: [Option<usize>; 6] = [None; 6];
            let mut levels = ScoreLevels::default();
            let (mut level_of, mut scores) = ([ScoreLevels::INFEASIBLE; 6], [0; 6]);
            let mut moved = Vec::new();
            for turn in turns {
                let mut scored = Vec::new();
                for change in &turn {
                    match *change {
                        Change::Class(class, raw) => raws[class] = raw,
                        Change::Node(node, class) => {
                            classes[node] = class;
                            scored.push(node);
                        }
                    }
                }
                levels.update_raw_scores(|class| raws[class.0 as usize]);
                for &node in &scored {
                    let before = level_of[node];
                    let scored_before = levels.weighted()[before as usize];
                    level_of[node] = classes[node].map_or(ScoreLevels::INFEASIBLE, |class| {
                        levels.add_node(ScoreClass(class as u64), || raws[class])
                    });
                    levels.remove_node(before);
                    scores[node] += levels.weighted()[level_of[node] as usize] - scored_before;
                }
                levels.normalize::<Fewest>(&NoArgs, WEIGHT, &mut moved).unwrap();
                for (node, score) in scores.iter_mut().enumerate() {
                    let of_level = moved.iter().filter(|&&(level, _)| level == level_of[node]);
                    *score += of_level.map(|&(_, by)| by).sum::<i32>();
                }

                let mut extent = Extent::EMPTY;
                let feasible = || classes.iter().flatten().map(|&class| raws[class]);
                feasible().filter(|&raw| raw != Fewest::IGNORED).for_each(|raw| extent.include(raw));
                let rebuilt = classes.map(|class| {
                    class.map_or(0, |class| WEIGHT * Fewest::normalize(&NoArgs, extent, raws[class]))
                });
                prop_assert_eq!(scores.map(i64::from), rebuilt);
            }
        }
    }
}
