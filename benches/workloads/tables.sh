#!/bin/sh
# Runs the workloads of 5,000 nodes, those with claims, and the scale series, and writes their tables into docs/performance.md
# and docs/limits.md: benches/workloads/tables.sh [BINARY [claims]]
# `claims`: only the workloads and tables of claims.
# RESULTS=folder keeps the results of each file, and reuses existing ones. A failed workload is an error, and no table is
# written.
set -eu
cd "$(dirname "$0")/../.."
. benches/workloads/fill.sh
binary=${1:-target/dist/schedc}
part=${2:-all}
results=${RESULTS:-$(mktemp -d)}
mkdir -p "$results"
failed=

measure() { # a name for the result, a file of workloads, and flags that select some of them
    result=$results/$1.json; file=benches/workloads/$2.yaml; shift 2
    if [ ! -s "$result" ]; then
        if "$binary" bench "$file" "$@" -o json > "$result.part"; then
            mv "$result.part" "$result"
        else
            echo "workloads of $file failed; see $result.part" >&2
            failed=1
        fi
    fi
}

measure claims claims --labels performance
measure claims-scale claims --labels scale
if [ "$part" = all ]; then
    for file in basic affinity spread volumes preemption queue templates events; do
        measure "$file" "$file" --labels performance
    done
    measure scale scale --labels scale
    measure latency basic --workload Basic/1000Nodes
fi
[ -z "$failed" ] || exit 1

# kube-scheduler's milliseconds per attempt, by the same workload.
kube=$(jq -c 'map_values(.ms)' benches/workloads/kube_scheduler.json)
functions='
    def digits($n): . * pow(10; $n) | round / pow(10; $n);
    def thousands: tostring | if length > 3 then (.[:-3] | thousands) + "," + .[-3:] else . end;
    def whole: round | thousands;
    def short: if . < 10 then digits(2) elif . < 100 then digits(1) else whole end | tostring;
    def mean: 1000000 / .decisions_per_s;
    def row: "| " + join(" | ") + " |";
    def times: [.latency_us | .p50, .p99, .p999] | map(short);
    # Values that miss a goal are bold.
    def at_most($goal; text): if . > $goal then "**\(text)**" else text end;
    def at_least($goal; text): if . < $goal then "**\(text)**" else text end;
'
# Prints the table of the workloads in these files of results.
workloads() {
    jq -rn --argjson kube "$kube" "$functions"'
    (["workload", "kube-scheduler, ms", "schedc, µs", "ratio", "decisions/s", "p50 µs", "p99 µs", "p99.9 µs", "pods/s", "allocations"] | row),
    "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    (inputs.workloads[]
        | ($kube[.name]) as $ms
        | [.name, ($ms // "" | tostring), (mean | at_most(15; short)),
           (if $ms then $ms * 1000 / mean | at_least(1000; whole) else "" end),
           (.decisions_per_s | whole), (.latency_us | (.p50 | short), (.p99 | at_most(100; short)), (.p999 | at_most(300; short))),
           (.pods_per_s | whole), (.allocations_per_decision // 0 | at_most(2; digits(2) | tostring))]
        | row)
' "$@"
}
scale() {
    jq -rn "$functions"'
    (["workload", "schedc, µs", "decisions/s", "p50 µs", "p99 µs", "p99.9 µs", "pods/s", "memory, MiB"] | row),
    "|---|--:|--:|--:|--:|--:|--:|--:|",
    (inputs.workloads[]
        | [.name, (mean | short), (.decisions_per_s | whole)] + times + [(.pods_per_s | whole), (.peak_rss_mb // 0 | whole)]
        | row)
' "$@"
}
workloads "$results"/claims.json > "$results/claims.md"
scale "$results"/claims-scale.json > "$results/claims-scale.md"
fill performance "claims" "$results/claims.md"
fill limits "claims" "$results/claims-scale.md"
if [ "$part" = all ]; then
    workloads "$results"/basic.json "$results"/affinity.json "$results"/spread.json "$results"/volumes.json \
        "$results"/preemption.json "$results"/queue.json "$results"/templates.json "$results"/events.json > "$results/workloads.md"
    scale "$results"/latency.json "$results"/scale.json > "$results/scale.md"
    fill performance "workloads" "$results/workloads.md"
    fill performance "scale" "$results/scale.md"
fi
echo "tables of $results written into docs"
