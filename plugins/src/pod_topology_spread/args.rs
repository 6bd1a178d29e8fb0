//! Arguments: constraints for pods without constraints.

use schedc_core::args::{Args, Errors, Node as Written, Part, Seq};
use schedc_core::intern::Interner;
use schedc_core::model::{InclusionPolicy, TopologySpreadConstraint, UnsatisfiableAction};

/// Arguments of PodTopologySpread.
#[derive(Clone, Copy, Debug, PartialEq, Args)]
#[args(check = check)]
pub struct PodTopologySpreadArgs {
    /// where pods without constraints get constraints from; default System
    pub defaulting_type: DefaultingType,
    /// for the type List: constraints without selectors; the selectors are those of the pod's Services and controller
    pub default_constraints: Seq<DefaultConstraint>,
}

/// Origin of default constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub enum DefaultingType {
    /// The default constraints of Kubernetes: soft, over zones and nodes.
    #[args(default)]
    System,
    /// `default-constraints`.
    List,
}

/// A constraint for pods without constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub struct DefaultConstraint {
    /// maximum skew: how many more pods a domain may have than the domain with the fewest
    #[args(required, range = 1..=2147483647)]
    pub max_skew: i32,
    /// the node label that defines the domains
    #[args(required, format = "qualified-name")]
    pub topology_key: &'static str,
    /// whether the constraint filters or scores
    #[args(required)]
    pub when_unsatisfiable: WhenUnsatisfiable,
    /// minimum number of domains; with fewer, the minimum number of pods counts as 0; default 1
    #[args(default = 1, range = 1..=2147483647)]
    pub min_domains: i32,
    /// whether nodes that the pod's node affinity rejects are left out; default Honor
    pub node_affinity_policy: AffinityPolicy,
    /// whether nodes with taints that the pod does not tolerate are left out; default Ignore
    pub node_taints_policy: TaintsPolicy,
}

/// Effect of a constraint that cannot be satisfied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub enum WhenUnsatisfiable {
    /// The node is infeasible.
    DoNotSchedule,
    /// The node is not preferred.
    ScheduleAnyway,
}

/// Effect of node affinity on counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub enum AffinityPolicy {
    /// Nodes that node affinity rejects do not count.
    #[args(default)]
    Honor,
    /// All nodes count, whatever their affinity.
    Ignore,
}

/// Effect of taints on counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub enum TaintsPolicy {
    /// Nodes with taints that are not tolerated do not count.
    Honor,
    /// All nodes count, whatever their taints.
    #[args(default)]
    Ignore,
}

const fn check(args: &PodTopologySpreadArgs, node: &Written, errors: &mut Errors) {
    const FIELD: &str = "default-constraints";
    if matches!(args.defaulting_type, DefaultingType::System) && !args.default_constraints.is_empty() {
        let location = match node.get(FIELD) {
            Some(given) => given,
            None => node,
        };
        errors.report(location, &[Part::Name(FIELD), Part::Text(" is for the defaulting type List only")]);
    }
}

impl PodTopologySpreadArgs {
    /// Checks the rules that decoding the arguments cannot check.
    pub(super) fn check(&self) -> Result<(), String> {
        let kinds: Vec<_> = self.default_constraints.iter().map(|c| (c.topology_key, c.when_unsatisfiable)).collect();
        match (1..kinds.len()).find(|&at| kinds[..at].contains(&kinds[at])) {
            Some(at) => {
                let (key, action) = kinds[at];
                Err(format!(
                    "default-constraints[{at}]: another constraint also has topology key {key} and action {action:?}"
                ))
            }
            None => Ok(()),
        }
    }

    /// Returns whether the default constraints are those of Kubernetes.
    pub(super) fn is_system(&self) -> bool {
        self.defaulting_type == DefaultingType::System
    }

    /// Returns the default constraints that filter.
    pub(super) fn hard_defaults(&self) -> impl Iterator<Item = DefaultConstraint> {
        let is_list = !self.is_system();
        let hard = |constraint: &DefaultConstraint| constraint.when_unsatisfiable == WhenUnsatisfiable::DoNotSchedule;
        self.default_constraints.iter().filter(move |constraint| is_list && hard(constraint))
    }

    /// Returns the default constraints, without selectors.
    pub(super) fn constraints(&self, interner: &mut Interner) -> Vec<TopologySpreadConstraint> {
        if !self.is_system() {
            return self.default_constraints.iter().map(|constraint| constraint.read(interner)).collect();
        }
        let soft = |max_skew, topology_key| DefaultConstraint {
            max_skew,
            topology_key,
            when_unsatisfiable: WhenUnsatisfiable::ScheduleAnyway,
            min_domains: 1,
            node_affinity_policy: AffinityPolicy::Honor,
            node_taints_policy: TaintsPolicy::Ignore,
        };
        [soft(3, super::HOSTNAME), soft(5, super::ZONE)].iter().map(|constraint| constraint.read(interner)).collect()
    }
}

impl DefaultConstraint {
    fn read(&self, interner: &mut Interner) -> TopologySpreadConstraint {
        TopologySpreadConstraint {
            max_skew: self.max_skew,
            topology_key: interner.intern(self.topology_key),
            when_unsatisfiable: match self.when_unsatisfiable {
                WhenUnsatisfiable::DoNotSchedule => UnsatisfiableAction::DoNotSchedule,
                WhenUnsatisfiable::ScheduleAnyway => UnsatisfiableAction::ScheduleAnyway,
            },
            selector: Ok(None),
            min_domains: self.min_domains,
            node_affinity_policy: match self.node_affinity_policy {
                AffinityPolicy::Honor => InclusionPolicy::Honor,
                AffinityPolicy::Ignore => InclusionPolicy::Ignore,
            },
            node_taints_policy: match self.node_taints_policy {
                TaintsPolicy::Honor => InclusionPolicy::Honor,
                TaintsPolicy::Ignore => InclusionPolicy::Ignore,
            },
        }
    }
}
