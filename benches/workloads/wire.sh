#!/bin/sh
# Measures `schedc run` against the fake API server, and writes the table into docs/run.md: benches/workloads/wire.sh [BINARY [EDGE]]
#
# BINARY  program with the profiles `default` and `edge`, and the feature `wire`; default: target/dist/schedc
# EDGE    program with the profile `edge` alone (`schedc build edge -o FILE`); default: target/edge
# FLAGS are further flags of `schedc bench --wire`, such as --tls. PRINT=1 prints the table and leaves the page as it is.
#
# jq is required. The script takes about two minutes.
set -eu
cd "$(dirname "$0")/../.."
. benches/workloads/fill.sh
binary=${1:-target/dist/schedc} edge=${2:-target/edge}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
measure() { # NAME ARGUMENT...
    name=$1
    shift
    # shellcheck disable=SC2086
    "$binary" bench --wire -o json ${FLAGS:-} "$@" >"$folder/$name"
}
measure default --profile default
measure edge --profile edge --program "$edge" --seconds 1
jq -r --slurpfile edge "$folder/edge" '
    def number(digits): if . == null then "more" else . * pow(10; digits) | round / pow(10; digits) end;
    def latency(goal): "| watch event to binding request, \(.pods_per_s) pods per second, p50 and p99 | at most \(.latency_us.p50 | number(0)) and \(.latency_us.p99 | number(0)) µs | p99 at most \(goal) µs |";
    $edge[0] as $edge |
    "| | measured | goal |",
    "|---|--:|--:|",
    (.loads[0] | latency(150)),
    (.loads[1] | latency(1000)),
    "| CPU time per bound pod at \(.loads[1].pods_per_s) pods per second | \(.loads[1].cpu_us_per_pod | number(0)) µs | a fiftieth of kube-scheduler |",
    "| idle, \(.nodes) nodes | \(.idle_cpu_percent | number(3)) % of a core | |",
    "| idle with heartbeats, \(.nodes) nodes | \(.heartbeat_cpu_percent | number(3)) % of a core | less than 0.1 % |",
    "| `edge`: size of the program | \($edge.program_mb | number(1)) MB | at most 5 MB |",
    ($edge.start | "\(.nodes) nodes and 1,000 pods" as $with |
        "| `edge`: resident memory, \($with) | \(.resident_mb | number(1)) MB | at most 8 MB |",
        "| `edge`: start to first binding, \($with) | \(.first_binding_ms | number(0)) ms | at most 20 ms |")
' "$folder/default" >"$folder/table"
if [ -n "${PRINT:-}" ]; then cat "$folder/table"; else fill run "fake API server" "$folder/table"; fi
