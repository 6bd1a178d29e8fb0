//! The pods whose capacity is counted, and their ratio.

use std::fmt;

use crate::workloads::{Replicas, Submission};

/// The reason why the capacity for a submission cannot be counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InvalidQuestion {
    /// The submission has no pods, or pods whose number depends on the nodes.
    Workloads(String),
    /// The ratio does not have exactly one number above 0 for each workload.
    Ratio {
        /// Numbers of the ratio.
        numbers: usize,
        /// Workloads of the submission.
        workloads: usize,
    },
}

impl fmt::Display for InvalidQuestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidQuestion::Workloads(message) => f.write_str(message),
            InvalidQuestion::Ratio { numbers, workloads } => write!(
                f,
                "the ratio has {numbers} numbers for {workloads} workloads: a number above 0 for each pod or workload of the \
                 manifests is necessary"
            ),
        }
    }
}

/// Gives the pods of a submission new names. Returns the number of pods that each workload adds in a round: `ratio`, or
/// one for each workload if it is empty.
///
/// # Errors
/// Returns an error for a submission without pods or with DaemonSets, and for a ratio that contains 0 or does not have
/// one number for each workload.
pub(crate) fn prepare(submission: &mut Submission, ratio: &[u16]) -> Result<Vec<usize>, InvalidQuestion> {
    if let Some(set) = submission.workloads.iter().find(|workload| workload.replicas == Replicas::EachNode) {
        let message = "a DaemonSet has one pod on each node, regardless of the capacity; use a pod with its template";
        return Err(InvalidQuestion::Workloads(format!("{}: {}: {message}", set.place, set.title())));
    }
    let workloads = submission.workloads.len();
    if workloads == 0 {
        return Err(InvalidQuestion::Workloads("the manifests have no pod and no workload".to_owned()));
    }
    let ratio = if ratio.is_empty() { vec![1; workloads] } else { ratio.iter().map(|n| usize::from(*n)).collect() };
    if ratio.len() != workloads || ratio.contains(&0) {
        return Err(InvalidQuestion::Ratio { numbers: ratio.len(), workloads });
    }
    submission.workloads.iter_mut().for_each(|workload| workload.generate_names());
    Ok(ratio)
}
