#!/bin/sh
# Compares a program of `cargo build --release` with one of `cargo build --profile dist`, and writes the table into docs/building.md:
# benches/workloads/release.sh [RELEASE DIST]
# Each workload runs five times (RUNS) with each program, alternately. The table has the medians of the mean times of a decision.
set -eu
cd "$(dirname "$0")/../.."
. benches/workloads/fill.sh
release=${1:-target/release/schedc} dist=${2:-target/dist/schedc}
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

for workload in basic:Basic basic:NodeAffinity affinity:PodAntiAffinity affinity:PodAffinity affinity:PreferredPodAffinity \
    spread:TopologySpread spread:PreferredTopologySpread spread:DefaultTopologySpread volumes:Secrets volumes:CsiVolumes; do
    for _ in $(seq "${RUNS:-5}"); do
        for program in release dist; do
            eval "binary=\$$program"
            "$binary" bench "benches/workloads/${workload%:*}.yaml" --workload "${workload#*:}/5000Nodes" -o json |
                jq -c --arg program "$program" '.workloads[] | { name, program: $program, decisions_per_s }' >>"$results/runs"
        done
    done
done
jq -rs '
    def median: sort | .[length / 2 | floor];
    def digits: . * 100 | round / 100 | tostring;
    def mean($program): map(select(.program == $program) | 1000000 / .decisions_per_s) | median;
    "| workload | `release`, µs | `dist`, µs | ratio |",
    "|---|--:|--:|--:|",
    (group_by(.name)[] | [mean("release"), mean("dist")] as [$release, $dist]
        | "| \(.[0].name) | \($release | digits) | \($dist | digits) | \($release / $dist | digits) |")
' "$results/runs" >"$results/table"
fill building "release over dist" "$results/table"
