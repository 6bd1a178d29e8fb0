//! Recent activity of a scheduler, as lines of text.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::{Duration, Instant};

use indicatif::HumanCount;
use schedc_core::model::Uid;
use schedc_core::queue::QueueCounts;
use schedc_core::scheduler::{Failure, Outcome};

/// Length of a sample of the throughput.
const SAMPLE_LENGTH: Duration = Duration::from_secs(1);
/// Maximum number of samples.
const MAX_SAMPLES: usize = 40;

/// Counts and recent throughput of a scheduler.
pub(super) struct Activity {
    start: Instant,
    attempts: u64,
    placed: u64,
    pub(super) queue: QueueCounts,
    /// Reasons of the last attempt of each pending pod.
    pending: HashMap<Uid, Vec<String>>,
    /// Number of pods placed in each past second. The last sample is incomplete.
    samples: VecDeque<u64>,
    sample_began: Instant,
    /// Text about the time, such as the virtual time.
    pub(super) time: String,
}

impl Activity {
    pub(super) fn new(now: Instant) -> Self {
        Activity {
            start: now,
            attempts: 0,
            placed: 0,
            queue: QueueCounts::default(),
            pending: HashMap::new(),
            samples: VecDeque::from([0]),
            sample_began: now,
            time: String::new(),
        }
    }

    /// Counts an attempt.
    pub(super) fn record(&mut self, now: Instant, outcome: &Outcome) {
        self.advance(now);
        self.attempts += 1;
        let reasons = match &outcome.result {
            Ok(_) => {
                self.placed += 1;
                if let Some(sample) = self.samples.back_mut() {
                    *sample += 1;
                }
                self.pending.remove(&outcome.pod.uid);
                return;
            }
            Err(Failure::Unschedulable(unschedulable)) if !unschedulable.diagnosis.reasons.is_empty() => {
                unschedulable.diagnosis.reasons.iter().map(|(reason, _)| reason.to_string()).collect()
            }
            Err(failure) => vec![failure.message().to_owned()],
        };
        self.pending.insert(outcome.pod.uid.clone(), reasons);
    }

    /// Forgets pods that are no longer pending.
    pub(super) fn retain(&mut self, is_pending: impl Fn(&Uid) -> bool) {
        self.pending.retain(|uid, _| is_pending(uid));
    }

    /// Begins new samples until `now`.
    pub(super) fn advance(&mut self, now: Instant) {
        let mut passed = now.saturating_duration_since(self.sample_began).as_secs() / SAMPLE_LENGTH.as_secs();
        self.sample_began += SAMPLE_LENGTH * u32::try_from(passed).unwrap_or(u32::MAX);
        passed = passed.min(MAX_SAMPLES as u64);
        for _ in 0..passed {
            self.samples.push_back(0);
        }
        while self.samples.len() > MAX_SAMPLES {
            self.samples.pop_front();
        }
    }

    /// Returns the lines of the view, with at most this many reasons of pending pods.
    pub(super) fn frame(&self, now: Instant, max_reasons: usize) -> Vec<String> {
        let count = |number: u64| HumanCount(number).to_string();
        let seconds = now.saturating_duration_since(self.start).as_secs_f64();
        let rate = |pods: u64, seconds: f64| {
            if seconds > 0.0 { count((pods as f64 / seconds).round() as u64) } else { "0".to_owned() }
        };
        // The current second is incomplete, so the previous one is shown. Before there is one, the average is shown.
        let last = match self.samples.len() {
            0 | 1 => rate(self.placed, seconds),
            length => count(self.samples.get(length - 2).copied().unwrap_or(0)),
        };
        let QueueCounts { active, backoff, unschedulable, gated } = self.queue;
        let mut lines = vec![
            format!(
                "throughput  {last} pods/s now, {} pods/s on average  {}",
                rate(self.placed, seconds),
                self.sparks()
            ),
            format!("attempts    {}, of which {} placed a pod", count(self.attempts), count(self.placed)),
            format!(
                "queue       {} active, {} in backoff, {} unschedulable, {} gated",
                count(active as u64),
                count(backoff as u64),
                count(unschedulable as u64),
                count(gated as u64)
            ),
            format!("time        {}", self.time),
        ];
        if self.pending.is_empty() {
            lines.push("pending     no attempted pod waits".to_owned());
            return lines;
        }
        lines.push(format!("pending     {} attempted pods wait, by reason:", count(self.pending.len() as u64)));
        let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
        for reason in self.pending.values().flatten() {
            *reasons.entry(reason).or_default() += 1;
        }
        let mut reasons: Vec<(&str, u64)> = reasons.into_iter().collect();
        reasons.sort_by_key(|(reason, pods)| (std::cmp::Reverse(*pods), *reason));
        let shown = if reasons.len() > max_reasons { max_reasons.saturating_sub(1) } else { max_reasons };
        for (reason, pods) in reasons.iter().take(shown) {
            let reason = reason.replace(char::is_control, " ");
            lines.push(format!("{:>10}  {reason}", count(*pods)));
        }
        match reasons.len().saturating_sub(shown) {
            0 => {}
            more => lines.push(format!("            and {more} more reasons")),
        }
        lines
    }

    /// Returns the complete samples as a row of bars.
    fn sparks(&self) -> String {
        const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let samples = || self.samples.iter().take(self.samples.len().saturating_sub(1)).copied();
        let highest = samples().max().unwrap_or(0).max(1);
        samples().map(|pods| BARS[(pods * 7).div_ceil(highest) as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use schedc_core::model::Pod;
    use schedc_core::scheduler::Placed;

    use super::*;

    fn outcome(uid: &str, result: Result<&str, &str>) -> Outcome {
        let pod = Pod { uid: Uid(uid.into()), ..Pod::default() };
        let result = match result {
            Ok(node) => Ok(Placed { node: node.into() }),
            Err(message) => Err(Failure::Error(message.into())),
        };
        Outcome { pod: Arc::new(pod), profile: 0, attempts: 1, waited: 0, result }
    }

    #[test]
    fn a_frame_has_throughput_queue_and_reasons() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut activity = Activity::new(start);
        activity.queue = QueueCounts { active: 1200, backoff: 2, unschedulable: 3, gated: 0 };
        activity.time = "1h virtual".to_owned();
        activity.record(at(0), &outcome("a", Ok("n")));
        for pod in 0..7 {
            activity.record(at(1), &outcome(&format!("b{pod}"), Ok("n")));
        }
        activity.record(at(2), &outcome("c", Err("no cpu")));
        activity.record(at(2), &outcome("d", Err("no cpu")));
        activity.record(at(2), &outcome("e", Err("a taint\u{1b}[31m")));
        let frame = activity.frame(at(2), 3);
        assert_eq!(
            frame,
            [
                "throughput  7 pods/s now, 4 pods/s on average  ▂█",
                "attempts    11, of which 8 placed a pod",
                "queue       1,200 active, 2 in backoff, 3 unschedulable, 0 gated",
                "time        1h virtual",
                "pending     3 attempted pods wait, by reason:",
                "         2  no cpu",
                "         1  a taint [31m",
            ]
        );
        assert_eq!(activity.frame(at(2), 1)[5], "            and 2 more reasons");
    }

    #[test]
    fn pods_that_are_placed_or_deleted_do_not_wait() {
        let now = Instant::now();
        let mut activity = Activity::new(now);
        for pod in ["placed", "deleted"] {
            activity.record(now, &outcome(pod, Err("no cpu")));
        }
        activity.record(now, &outcome("placed", Ok("n")));
        activity.retain(|uid| &*uid.0 != "deleted");
        assert_eq!(activity.frame(now, 3)[4], "pending     no attempted pod waits");
    }

    #[test]
    fn idle_seconds_have_samples_too() {
        let start = Instant::now();
        let mut activity = Activity::new(start);
        activity.record(start, &outcome("a", Ok("n")));
        activity.advance(start + Duration::from_secs(4));
        assert_eq!(activity.sparks(), "█▁▁▁");
        activity.advance(start + Duration::from_secs(4000));
        assert_eq!(activity.samples.len(), MAX_SAMPLES);
    }
}
