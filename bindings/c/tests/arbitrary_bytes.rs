//! Arbitrary bytes as texts: errors or answers, and no panic.

#![allow(unsafe_code, reason = "the functions are those of the C interface")]

use std::ptr;

use schedc_c::*;
use schedc_core::random::Random;

/// Texts that are valid somewhere.
const SEEDS: [&str; 7] = [
    "{ apiVersion: v1, kind: Node, metadata: { name: a }, status: { allocatable: { cpu: 2, pods: 10 } } }",
    r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}}"#,
    "{\"op\": \"fork\"}\n{\"op\": \"check\", \"pod\": \"p\", \"node\": \"a\"}\n{\"op\": \"revert\"}",
    r#"{"id": "s", "profile": "default", "objects": [], "steps": [{"schedule": {"metadata": {"name": "p"}}}]}"#,
    "scheduler-name = \"own\"",
    "k8s\0\x0a\x0a\x0a\x02v1\x12\x04Node\x12\x05\x0a\x03\x0a\x01c",
    "p",
];

/// Returns a text with some other bytes, or another length.
fn arbitrary(random: &mut Random) -> Vec<u8> {
    let mut bytes = SEEDS[random.below(SEEDS.len())].as_bytes().to_vec();
    for _ in 0..random.below(4) {
        let at = random.below(bytes.len().max(1)).min(bytes.len());
        match random.below(3) {
            0 if at < bytes.len() => bytes[at] = random.below(256) as u8,
            1 => bytes.truncate(at),
            _ => bytes.insert(at, b"{}[]\":,-\n\0"[random.below(10)]),
        }
    }
    bytes
}

fn text(bytes: &[u8]) -> Text {
    Text { data: bytes.as_ptr(), length: bytes.len() }
}

#[test]
fn arbitrary_bytes_cause_errors_or_answers() {
    let mut out = Buffer { data: ptr::null_mut(), length: 0 };
    let (mut profiles, mut cluster, mut evaluator) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    let source = Source { name: Text::of("default.toml"), text: Text::of("") };
    // SAFETY: all pointers are of this function, and the handles are released at its end.
    unsafe {
        assert_eq!(schedc_profiles_parse(&raw const source, 1, &raw mut profiles, &raw mut out), Status::Ok);
        assert_eq!(schedc_cluster_new(profiles, Text::of("default"), &raw mut cluster, &raw mut out), Status::Ok);
        assert_eq!(schedc_evaluator_new(profiles, &raw mut evaluator, &raw mut out), Status::Ok);
    }
    let rounds = 1_000;
    let mut random = Random::new(0);
    let mut accepted = 0;
    for _ in 0..rounds {
        let bytes: [Vec<u8>; 3] = std::array::from_fn(|_| arbitrary(&mut random));
        let [a, b, c] = [text(&bytes[0]), text(&bytes[1]), text(&bytes[2])];
        let list = [a, b, c];
        let (mut fits, mut count) = ([false; 3], 0);
        let out = &raw mut out;
        // SAFETY: the handles are valid, the texts live in `bytes`, and each buffer is released once.
        let status = unsafe {
            let status = match random.below(20) {
                0 | 1 => schedc_cluster_apply(cluster, a, random.below(2) == 0, out),
                2 => schedc_cluster_delete(cluster, Text::of("Pod"), b, c, out),
                3 => schedc_cluster_check(cluster, a, b, out),
                4 => schedc_cluster_check_nodes(cluster, Text::of("p"), list.as_ptr(), 3, fits.as_mut_ptr(), out),
                5 => schedc_cluster_schedule(cluster, a, b, out),
                6 => schedc_cluster_schedule_on_any(cluster, Text::of("p"), ptr::null(), 0, out),
                7 => schedc_cluster_unschedule(cluster, a, out),
                8 => schedc_cluster_decide(cluster, Text::of("p"), out),
                9 => schedc_cluster_estimate(cluster, a, list.as_ptr(), 3, 2, out),
                10 => schedc_cluster_requests(cluster, a, out),
                11 => schedc_cluster_fork(cluster, out),
                12 => schedc_cluster_revert(cluster, out),
                13 => schedc_cluster_forks(cluster, &raw mut count, out),
                14 => schedc_cluster_apply_protobuf(cluster, list.as_ptr(), 3, out),
                15 => schedc_cluster_commit(cluster, out),
                16 => schedc_evaluator_use_profile(evaluator, a, out),
                17 => {
                    let (source, mut profiles) = (Source { name: a, text: b }, ptr::null_mut());
                    let status = schedc_profiles_parse(&raw const source, 1, &raw mut profiles, out);
                    schedc_profiles_free(profiles);
                    status
                }
                18 => schedc_evaluator_evaluate(evaluator, a, out),
                _ => schedc_evaluator_hints(evaluator, a, out),
            };
            schedc_buffer_free(out);
            status
        };
        assert_ne!(status, Status::Panicked, "{bytes:?}");
        assert_ne!(status, Status::NullPointer, "{bytes:?}");
        accepted += usize::from(status == Status::Ok);
    }
    assert!(accepted > rounds / 10, "{accepted} calls succeeded");
    // SAFETY: the handles are valid and not used afterwards.
    unsafe {
        schedc_cluster_free(cluster);
        schedc_evaluator_free(evaluator);
        schedc_profiles_free(profiles);
    }
}
