//! Generator of histories. Each step depends on the state of the simulation.

use schedc_core::random::Random;

use crate::history::{
    Answer, DeviceRequest, ExtendedResource, NodeSpec, PodChange, PodDevices, PodSpec, SliceSpec, Step, Storage, Stream,
};
use crate::plugin_fault::{FaultyPlugin, PlannedFault, PluginFault, Point};

/// The state of the simulation, for the generator.
#[derive(Clone, Debug, Default)]
pub struct SimulationSummary {
    /// Nodes that exist.
    pub nodes: Vec<u8>,
    /// Pods that exist.
    pub pods: Vec<u8>,
    /// Number of undelivered changes by stream.
    pub backlog: [usize; Stream::ALL.len()],
    /// Whether a stream's watch is broken.
    pub broken: [bool; Stream::ALL.len()],
    /// Requests without a response.
    pub calls: usize,
    /// Indexes of the requests that are less frequent than others.
    pub rare: Vec<u8>,
    /// Indexes of the requests for resource claims.
    pub claims: Vec<u8>,
    /// Pods that wait in Permit.
    pub waiting: usize,
    /// Pods in the active queue.
    pub ready: usize,
}

/// Frequencies and limits of an episode. They differ between episodes, so each kind of step is frequent in some of
/// them.
#[derive(Clone, Debug)]
struct EpisodeConfig {
    nodes: u8,
    pods: u8,
    groups: u8,
    milli_cpu: u16,
    /// Percentage of pods with planned faults.
    planned_fault_percent: usize,
    /// Percentage of responses that are faults.
    faulty_answer_percent: usize,
    /// The faulty responses of the episode.
    answers: Vec<Answer>,
    storage: bool,
    devices: bool,
    affinity: bool,
    foreign: bool,
    gates: bool,
    weights: [usize; KINDS.len()],
}

/// Kind of the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Schedule,
    Deliver,
    Answer,
    Pass,
    Pod,
    ChangePod,
    DeletePod,
    FinishPod,
    BindElsewhere,
    Nominate,
    Node,
    DeleteNode,
    Budget,
    Storage,
    Controllers,
    Repeat,
    Break,
    Merge,
    List,
    Allow,
    Reject,
    Activate,
    Restart,
    Settle,
}

/// All kinds, their weights, and whether an episode can be without them.
const KINDS: [(Kind, usize, bool); 24] = [
    (Kind::Schedule, 220, false),
    (Kind::Deliver, 240, false),
    (Kind::Answer, 240, false),
    (Kind::Pass, 90, false),
    (Kind::Pod, 100, false),
    (Kind::ChangePod, 30, true),
    (Kind::DeletePod, 45, true),
    (Kind::FinishPod, 15, true),
    (Kind::BindElsewhere, 8, true),
    (Kind::Nominate, 15, true),
    (Kind::Node, 30, false),
    (Kind::DeleteNode, 10, true),
    (Kind::Budget, 8, true),
    (Kind::Storage, 30, true),
    (Kind::Controllers, 40, false),
    (Kind::Repeat, 12, true),
    (Kind::Break, 6, true),
    (Kind::Merge, 10, true),
    (Kind::List, 40, false),
    (Kind::Allow, 30, true),
    (Kind::Reject, 10, true),
    (Kind::Activate, 8, true),
    (Kind::Restart, 4, true),
    (Kind::Settle, 12, false),
];

/// Responses that are faults.
const FAULTY_ANSWERS: [Answer; 4] = [Answer::Lost, Answer::TimeOut, Answer::Conflict, Answer::Refused];

/// Generates steps from a seed.
pub struct Generator {
    random: Random,
    config: EpisodeConfig,
}

impl Generator {
    /// Creates the generator of a seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut config = EpisodeConfig::draw(&mut random);
        config.devices = Random::new(!seed).below(100) < 40;
        Generator { random, config }
    }

    /// Draws the number of steps in the episode.
    pub fn length(&mut self) -> usize {
        150 + self.random.below(650)
    }

    /// Returns the next step.
    pub fn next(&mut self, summary: &SimulationSummary) -> Step {
        if summary.nodes.is_empty() && self.random.below(3) > 0 {
            return self.node(summary);
        }
        if self.config.devices && self.chance(8) {
            return self.devices();
        }
        let weights: Vec<usize> = KINDS
            .iter()
            .zip(self.config.weights)
            .map(|((kind, ..), weight)| if is_possible(*kind, summary, &self.config) { weight } else { 0 })
            .collect();
        let kind = KINDS[draw_weighted(&mut self.random, &weights)].0;
        self.step(kind, summary)
    }

    fn step(&mut self, kind: Kind, summary: &SimulationSummary) -> Step {
        match kind {
            Kind::Schedule => Step::Schedule,
            Kind::Deliver => {
                let stream = Stream::ALL[draw_weighted(&mut self.random, &summary.backlog)];
                Step::Deliver(stream, 1 + self.skewed(6) as u8)
            }
            Kind::Answer => {
                // Rare requests get many faults. Requests for claims get fewer: several must succeed before the pod is
                // bound.
                let chosen = if !summary.rare.is_empty() && self.chance(75) {
                    Some(&summary.rare)
                } else if !summary.claims.is_empty() && self.chance(35) {
                    Some(&summary.claims)
                } else {
                    None
                };
                let at = match chosen {
                    Some(calls) => self.pick(calls),
                    None => self.skewed(summary.calls) as u8,
                };
                let faulty_answer_percent = match (chosen, self.config.faulty_answer_percent) {
                    (Some(_), 0) => 40,
                    (Some(_), _) => 85,
                    (None, faulty_answer_percent) => faulty_answer_percent,
                };
                let answers = if chosen.is_some() { &FAULTY_ANSWERS } else { &self.config.answers[..] };
                let answer = match answers.get(self.random.below(answers.len())) {
                    Some(answer) if self.random.below(100) < faulty_answer_percent => *answer,
                    _ => Answer::Done,
                };
                Step::Answer(at, answer)
            }
            Kind::Pass => Step::Pass(match self.random.below(8) {
                0 => 1 + self.random.below(30) as u32,
                1 => 8_000 + self.random.below(6_000) as u32,
                _ => 100 + self.random.below(1_500) as u32,
            }),
            Kind::Pod => Step::Pod(self.pod()),
            Kind::ChangePod => Step::ChangePod(self.pick_pod(summary), self.change()),
            Kind::DeletePod => Step::DeletePod(self.pick_pod(summary)),
            Kind::FinishPod => Step::FinishPod(self.pick_pod(summary)),
            Kind::BindElsewhere => Step::BindElsewhere(self.pick_pod(summary), self.pick_node()),
            Kind::Nominate => {
                let node = (self.random.below(3) > 0).then(|| self.pick_node());
                Step::Nominate(self.pick_pod(summary), node)
            }
            Kind::Node => self.node(summary),
            Kind::DeleteNode => Step::DeleteNode(self.pick(&summary.nodes)),
            Kind::Budget => {
                let group = self.group();
                if self.random.below(4) == 0 {
                    Step::DeleteBudget(group)
                } else {
                    Step::Budget(group, self.random.below(3) as u8)
                }
            }
            Kind::Storage => match self.random.below(6) {
                0 | 1 => Step::Volume(self.random.below(8) as u8, self.zone()),
                2 => Step::DeleteClaim(self.claim()),
                _ => {
                    let storage = if self.random.below(2) == 0 { Storage::Static } else { Storage::Provisioned };
                    Step::Claim(self.claim(), storage)
                }
            },
            Kind::Controllers => Step::Controllers,
            Kind::Repeat => Step::Repeat(self.stream()),
            Kind::Break => Step::Break(self.stream()),
            Kind::Merge => Step::Merge(Stream::ALL[draw_weighted(&mut self.random, &summary.backlog)]),
            Kind::List => {
                let weights = summary.broken.map(usize::from);
                Step::List(Stream::ALL[draw_weighted(&mut self.random, &weights)])
            }
            Kind::Allow => Step::Allow(self.random.below(summary.waiting) as u8),
            Kind::Reject => Step::Reject(self.random.below(summary.waiting) as u8),
            Kind::Activate => Step::Activate(self.pick_pod(summary)),
            Kind::Restart => Step::Restart(self.random.below(2) == 0),
            Kind::Settle => Step::Settle,
        }
    }

    /// Returns a number below `n`; small numbers are more likely.
    fn skewed(&mut self, n: usize) -> usize {
        let bound = 1 + self.random.below(n);
        self.random.below(bound)
    }
    fn chance(&mut self, percent: usize) -> bool {
        self.random.below(100) < percent
    }
    fn pick(&mut self, ids: &[u8]) -> u8 {
        ids.get(self.random.below(ids.len())).copied().unwrap_or_default()
    }
    fn pick_pod(&mut self, summary: &SimulationSummary) -> u8 {
        self.pick(&summary.pods)
    }
    /// Returns a node, which need not exist.
    fn pick_node(&mut self) -> u8 {
        self.random.below(self.config.nodes.into()) as u8
    }
    fn zone(&mut self) -> u8 {
        self.random.below(3) as u8
    }
    fn group(&mut self) -> u8 {
        self.random.below(self.config.groups.into()) as u8
    }
    fn claim(&mut self) -> u8 {
        self.random.below(8) as u8
    }
    fn stream(&mut self) -> Stream {
        let [volumes, claims, classes] = if self.config.storage { [2, 3, 1] } else { [0; 3] };
        let [device_classes, slices, resource_claims] = if self.config.devices { [1, 3, 5] } else { [0; 3] };
        let weights = [4, 6, 1, volumes, claims, classes, device_classes, slices, resource_claims];
        Stream::ALL[draw_weighted(&mut self.random, &weights)]
    }

    /// Returns a change of devices or of claims for them.
    fn devices(&mut self) -> Step {
        let (node, generation) = (self.pick_node(), 1 + self.random.below(3) as u8);
        let claim = self.random.below(4) as u8;
        match self.random.below(10) {
            0..=4 => Step::Slices(SliceSpec { node, generation, tainted: self.chance(10) }),
            5 | 6 => Step::DeleteSlices(node, generation),
            7 => Step::DeleteResourceClaim(claim),
            _ => Step::ResourceClaim(claim, self.device_request()),
        }
    }

    fn device_request(&mut self) -> DeviceRequest {
        DeviceRequest::ALL[self.random.below(DeviceRequest::ALL.len())]
    }

    fn pod_devices(&mut self) -> Option<PodDevices> {
        if !self.config.devices || self.chance(30) {
            return None;
        }
        Some(match self.random.below(10) {
            0..=4 => PodDevices::Own(self.device_request()),
            5 | 6 => PodDevices::Named(self.random.below(4) as u8),
            7 | 8 => PodDevices::Extended(ExtendedResource::Explicit, 1 + self.skewed(3) as u8),
            _ => PodDevices::Extended(ExtendedResource::Implicit, 1 + self.skewed(3) as u8),
        })
    }

    fn node(&mut self, summary: &SimulationSummary) -> Step {
        let id =
            if self.chance(50) && !summary.nodes.is_empty() { self.pick(&summary.nodes) } else { self.pick_node() };
        Step::Node(NodeSpec {
            id,
            // A node stays in its zone.
            zone: id % 3,
            milli_cpu: [1000, 2000, 4000][self.random.below(3)],
            pods: [2, 5, 20, 20][self.random.below(4)],
            ssd: self.chance(50),
            tainted: self.chance(20),
            cordoned: self.chance(15),
        })
    }

    fn pod(&mut self) -> PodSpec {
        let id = self.random.below(self.config.pods.into()) as u8;
        let affinity = self.config.affinity;
        PodSpec {
            id,
            priority: [0, 0, 10, 10, 100][self.random.below(5)],
            never_preempts: self.chance(10),
            milli_cpu: (1 + self.random.below(10)) as u16 * self.config.milli_cpu,
            group: self.group(),
            ssd: self.chance(15),
            tolerant: self.chance(30),
            port: self.chance(8).then(|| 8000 + self.random.below(2) as u16),
            anti_affinity: affinity && self.chance(15),
            spread: affinity && self.chance(15),
            affinity: affinity && self.chance(10),
            gated: self.config.gates && self.chance(15),
            claim: (self.config.storage && self.chance(60)).then(|| self.claim()),
            foreign: self.config.foreign && self.chance(10),
            grace: [0, 1, 5, 30][self.random.below(4)],
            planned_faults: self.planned_faults(),
            devices: self.pod_devices(),
        }
    }

    fn planned_faults(&mut self) -> Vec<PlannedFault> {
        let mut planned_faults = Vec::new();
        while planned_faults.len() < 3 && self.chance(self.config.planned_fault_percent) {
            let plugin = if self.chance(60) { FaultyPlugin::First } else { FaultyPlugin::Last };
            let point = Point::of(plugin)[self.random.below(Point::of(plugin).len())];
            let fault = point.faults()[self.random.below(point.faults().len())];
            let seconds = [0, 1, 3, 10, 40][self.random.below(5)];
            let fault = match fault {
                PluginFault::Wait(_) => PluginFault::Wait(seconds),
                PluginFault::Slow(_) => PluginFault::Slow(seconds),
                PluginFault::SlowError(_) => PluginFault::SlowError(seconds),
                other => other,
            };
            planned_faults.push(PlannedFault { plugin, point, fault, times: 1 + self.skewed(3) as u8 });
        }
        planned_faults
    }

    fn change(&mut self) -> PodChange {
        match self.random.below(6) {
            0 | 1 => PodChange::Ungate,
            2 => PodChange::Group(self.group()),
            3 => PodChange::Tolerate,
            4 => PodChange::Resize((1 + self.random.below(10)) as u16 * self.config.milli_cpu),
            _ => PodChange::Annotate,
        }
    }
}

impl EpisodeConfig {
    fn draw(random: &mut Random) -> EpisodeConfig {
        let mut often = |percent: usize| random.below(100) < percent;
        let mut answers = Vec::new();
        for answer in FAULTY_ANSWERS {
            if often(65) {
                answers.push(answer);
            }
        }
        let (storage, affinity, foreign, gates) = (often(70), often(50), often(40), often(60));
        let weights = KINDS.map(|(_, weight, dispensable)| match random.below(10) {
            0 | 1 if dispensable => 0,
            2 => weight * 3,
            3 if !dispensable => weight / 3,
            _ => weight,
        });
        let max_nodes = [3, 8][random.below(2)];
        EpisodeConfig {
            nodes: 1 + random.below(max_nodes) as u8,
            pods: 4 + random.below(36) as u8,
            groups: 1 + random.below(4) as u8,
            milli_cpu: [50, 100, 200, 400, 400][random.below(5)],
            planned_fault_percent: [0, 10, 30, 60][random.below(4)],
            faulty_answer_percent: [0, 10, 30, 60][random.below(4)],
            answers,
            storage,
            devices: false,
            affinity,
            foreign,
            gates,
            weights,
        }
    }
}

fn is_possible(kind: Kind, summary: &SimulationSummary, config: &EpisodeConfig) -> bool {
    match kind {
        Kind::Deliver | Kind::Merge => summary.backlog.iter().any(|n| *n > 0),
        Kind::Answer => summary.calls > 0,
        Kind::Pod => summary.pods.len() < config.pods.into(),
        Kind::ChangePod | Kind::DeletePod | Kind::FinishPod | Kind::BindElsewhere | Kind::Nominate | Kind::Activate => {
            !summary.pods.is_empty()
        }
        Kind::DeleteNode => !summary.nodes.is_empty(),
        Kind::Storage => config.storage,
        Kind::Controllers => config.storage || config.devices,
        Kind::List => summary.broken.iter().any(|broken| *broken),
        Kind::Allow | Kind::Reject => summary.waiting > 0,
        Kind::Schedule => summary.ready > 0,
        _ => true,
    }
}

/// Draws an index with the given weights; 0 if all weights are 0.
fn draw_weighted(random: &mut Random, weights: &[usize]) -> usize {
    let mut at = random.below(weights.iter().sum());
    for (index, weight) in weights.iter().enumerate() {
        if at < *weight {
            return index;
        }
        at -= weight;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_generate_equal_steps() {
        let summary = SimulationSummary {
            nodes: vec![0],
            pods: vec![1],
            calls: 2,
            waiting: 1,
            ready: 1,
            ..SimulationSummary::default()
        };
        let draw = |seed| {
            let mut generator = Generator::new(seed);
            (0..100).map(|_| generator.next(&summary)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
