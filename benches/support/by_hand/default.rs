//! The loop for profiles/default.toml.

use schedc::pipelines::state::State;
use schedc_core::cache::Cache;
use schedc_core::passes::Best;

use super::images::Images;
use super::kernels::{balance, fits, least_allocated, matches, preference, tolerated};
use super::{Answer, OutOfRange, Pod};

pub(crate) fn evaluate(pod: &Pod, cache: &Cache<State>, answer: &mut Answer) -> Result<Best, OutOfRange> {
    answer.start(pod, cache);
    let State { node_taints, node_labels, node_ports, node_resources, node_images, .. } = &cache.state;
    // Cut to one length, so that an index is checked once.
    let slots = cache.base.infos().len();
    let (node_taints, node_labels, node_ports) = (&node_taints[..slots], &node_labels[..slots], &node_ports[..slots]);
    let (node_resources, node_images) = (&node_resources[..slots], &node_images[..slots]);
    let Answer { feasible, totals, taints: raw_taints, affinity: raw_affinity } = answer;
    let (totals, raw_taints, raw_affinity) =
        (&mut totals[..slots], &mut raw_taints[..slots], &mut raw_affinity[..slots]);
    let selects = !pod.selector.is_empty() || pod.required.is_some();
    let prefers = !pod.preferred.is_empty();
    let images = Images::new(pod, cache);
    let (mut most_taints, mut most_affinity) = (0, 0);
    let mut highest = 0_u64;

    for (word, bits) in feasible.words_mut().iter_mut().enumerate() {
        let mut rest = *bits;
        while rest != 0 {
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            let at = word * 64 + bit as usize;
            let taints = &node_taints[at];
            let resources = &node_resources[at];
            let fits = (!taints.unschedulable || pod.tolerates_cordon)
                && taints.hard.iter().all(|taint| tolerated(taint, &pod.hard))
                && (!selects || matches(pod, &node_labels[at]))
                && !pod.ports.iter().any(|port| node_ports[at].conflicts(port, pod.any_address))
                && fits(&pod.asked, resources);
            if !fits {
                *bits &= !(1 << bit);
                continue;
            }
            let untolerated = taints.soft.iter().filter(|taint| !tolerated(taint, &pod.soft)).count() as i64;
            raw_taints[at] = untolerated;
            most_taints = most_taints.max(untolerated);
            if prefers {
                let affinity = preference(&pod.preferred, &node_labels[at]);
                raw_affinity[at] = affinity;
                most_affinity = most_affinity.max(affinity);
            }
            let fit = least_allocated(pod, resources);
            highest = highest.max(fit as u64);
            let mut total = fit;
            if let Some(requests) = pod.balanced {
                let balance = balance(requests, resources);
                highest = highest.max(balance as u64);
                total = total.wrapping_add(balance);
            }
            let locality = images.score(&node_images[at]);
            highest = highest.max(locality as u64);
            totals[at] = total.wrapping_add(locality);
        }
    }

    let mut best = Best { total: i64::MIN, ties: 0 };
    for (word, bits) in feasible.words().iter().enumerate() {
        let mut rest = *bits;
        while rest != 0 {
            let at = word * 64 + rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let taints = if most_taints > 0 { 100 - raw_taints[at].wrapping_mul(100) / most_taints } else { 100 };
            highest = highest.max(taints as u64);
            let mut total = totals[at].wrapping_add(taints.wrapping_mul(3));
            if prefers {
                let raw = raw_affinity[at];
                let affinity = if most_affinity > 0 { raw.wrapping_mul(100) / most_affinity } else { raw };
                highest = highest.max(affinity as u64);
                total = total.wrapping_add(affinity.wrapping_mul(2));
            }
            totals[at] = total;
            if total > best.total {
                best = Best { total, ties: 1 };
            } else if total == best.total {
                best.ties += 1;
            }
        }
    }
    if highest <= 100 { Ok(best) } else { Err(OutOfRange) }
}
