#!/bin/sh
# Measures back-tests, and writes the table into docs/backtest.md: benches/workloads/backtest.sh [BINARY [FOLDER]]
# The binary needs the feature `recordings`. tools/backtest/mappings/week.sh writes the workload of a week: 70,000 pods on 1,000 nodes. FOLDER
# has the tables of Alibaba's trace (openb_node_list_all_node.csv and openb_pod_list_default.csv). Without FOLDER, the row `openb` is missing,
# and the table is printed instead of written. REPORTS=FOLDER keeps the reports, PRINT=1 prints the rows and leaves the page as it is.
set -eu
cd "$(dirname "$0")/../.."
. benches/workloads/fill.sh
binary=${1:-target/dist/schedc}
openb=${2:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
reports=${REPORTS:-$folder}
mkdir -p "$reports"

tools/backtest/mappings/week.sh "$folder/week"

# Profiles in addition to `default` and `binpack`: two strategies with most weight on GPUs, and one that fills nodes to half.
profile() { # the name, and the scoring strategy of NodeResourcesFit
    printf 'scheduler-name = "%s"\n\n[args.NodeResourcesFit]\nscoring-strategy = %s\n' "$1" "$2" >"$folder/$1.toml"
}
gpu='{ name = "example.com/gpu-milli", weight = 5 }, { name = "cpu", weight = 1 }, { name = "memory", weight = 1 }'
profile pack-gpus "{ type = \"MostAllocated\", resources = [$gpu] }"
profile spread-gpus "{ type = \"LeastAllocated\", resources = [$gpu] }"
profile half-full "{ type = \"RequestedToCapacityRatio\", resources = [{ name = \"cpu\", weight = 1 }], requested-to-capacity-ratio = { shape = [{ utilization = 0, score = 0 }, { utilization = 50, score = 10 }, { utilization = 100, score = 5 }] } }"

# Runs a back-test, and prints a row.
row() { # the name of the workload, the file of its report, and the arguments of the back-test
    name=$1 report=$reports/$2
    shift 2
    begin=$(date +%s%N)
    "$binary" backtest "$@" --report "$report" -o json >"$folder/result.json" &
    pid=$!
    peak=0
    while kill -0 "$pid" 2>/dev/null; do
        now=$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null || echo 0)
        [ "${now:-0}" -le "$peak" ] || peak=$now
        sleep 0.1
    done
    wait "$pid"
    end=$(date +%s%N)
    jq -r --arg name "$name" --argjson seconds "$(((end - begin) / 1000000))" --argjson peak "$peak" --argjson report "$(wc -c <"$report")" '
        def digits($n): . * pow(10; $n) | round / pow(10; $n);
        def thousands: tostring | if length > 3 then (.[:-3] | thousands) + "," + .[-3:] else . end;
        "| " + ([$name, (.source.nodes | thousands), (.source.initialPods + .source.arrivingPods | thousands), (.profiles | length), (.seeds | length),
            ([.runs[].result.attempts] | add | thousands), ($seconds / 1000 | digits(1)), ($peak / 1024 | round), ($report / 1024 | round | thousands)]
            | map(tostring) | join(" | ")) + " |"' "$folder/result.json"
}

{
    echo '| workload | nodes | pods | profiles | seeds | attempts | seconds | peak memory, MiB | report, KiB |'
    echo '|---|--:|--:|--:|--:|--:|--:|--:|--:|'
    row 'a week' week.html default --on "$folder/week" --trace-mapping "$folder/week/week.toml" --seeds 1
    row 'a week, ten seeds' week-seeds.html default profiles/binpack.toml --on "$folder/week" --trace-mapping "$folder/week/week.toml"
    [ -z "$openb" ] || row 'openb' openb.html default profiles/binpack.toml "$folder/pack-gpus.toml" "$folder/spread-gpus.toml" \
        "$folder/half-full.toml" --on "$openb" --trace-mapping tools/backtest/mappings/openb.toml
} >"$folder/table"
if [ -n "${PRINT:-}" ] || [ -z "$openb" ]; then
    cat "$folder/table"
else
    fill backtest "times of back-tests" "$folder/table"
fi
