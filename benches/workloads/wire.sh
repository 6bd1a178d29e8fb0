#!/bin/sh
# Measures `schedc run` at the fake API server, and writes the table into docs/run.md: benches/workloads/wire.sh [BINARY [EDGE [SERVER]]]
#
# BINARY  program with the profile `default` and the feature `run`; default: target/dist/schedc
# EDGE    program with the profile `edge` alone (`schedc build edge -o FILE`); default: target/edge
# SERVER  the fake API server; default: target/release/examples/serve (cargo build --release -p schedc-fake-apiserver --example serve)
# NODES=1000 and RATE=500 are the numbers of nodes, and of pods per second. FLAGS=--tls is passed to SERVER. PRINT=1 prints the table and
# leaves the page as it is.
#
# Latencies are from the histogram scheduler_watch_to_bind_duration_seconds: the smallest bound below which a part of the observations is.
# CPU time is that of all threads (/proc/PID/task/*/schedstat). Heartbeats are status patches: each node sends one in five minutes. Kubelets
# also renew leases, which the scheduler does not watch. curl and jq are required. The script takes about two minutes.
set -eu
cd "$(dirname "$0")/../.."
. benches/workloads/fill.sh
binary=${1:-target/dist/schedc} edge=${2:-target/edge} server=${3:-target/release/examples/serve}
nodes=${NODES:-1000} rate=${RATE:-500}
. benches/workloads/fake_apiserver.sh

# Writes a curl configuration with requests for objects FIRST to FIRST + COUNT - 1.
requests() { # KIND FIRST COUNT
    awk -v url="$url" -v kind="$1" -v first="$2" -v count="$3" -v scheduler="$profile" "$awk_functions"'BEGIN {
        for (i = first; i < first + count; i++) {
            type = "application/json"
            if (kind == "nodes") {
                path = "/api/v1/nodes"
                body = node(i)
            } else if (kind == "heartbeats") {
                path = "/api/v1/nodes/node-" i "/status"
                type = "application/strategic-merge-patch+json"
                body = "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"lastHeartbeatTime\":\"2026-01-01T00:00:" sprintf("%02d", i % 60) "Z\"}]}}"
            } else {
                path = "/api/v1/namespaces/default/pods"
                set = int(i / 50)
                body = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-" i "\",\"namespace\":\"default\",\"labels\":{\"app\":\"web-" set "\"}},\"spec\":{\"schedulerName\":\"" scheduler "\",\"tolerations\":[{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":300}],\"containers\":[{\"name\":\"web\",\"image\":\"registry.example.com/web:1\",\"resources\":{\"requests\":{\"cpu\":\"100m\",\"memory\":\"200Mi\"}}}]}}"
            }
            request(url path, type, body)
            if (kind == "heartbeats") print "request = \"PATCH\""
        }
    }'
}
send() { # KIND FIRST COUNT [RATE]
    requests "$1" "$2" "$3" >"$folder/requests"
    curl ${4:+--rate "$4/s"} -K "$folder/requests"
}
port=${PORT:-18259} profile=default-scheduler
start() { # BINARY
    date +%s%3N >"$folder/started"
    "$1" run --kubeconfig "$folder/config" --secure-port="$port" --authorization-always-allow-paths=/metrics,/readyz \
        --leader-elect=false --logging-format=json -v 2 >"$folder/log" 2>&1 &
    scheduler=$!
    pids="$pids $scheduler"
    until curl -skf -o "$folder/ready" "https://127.0.0.1:$port/readyz"; do
        kill -0 "$scheduler" 2>/dev/null || { cat "$folder/log" >&2; exit 1; }
        sleep 0.1
    done
}
cpu() { # Prints nanoseconds.
    cat /proc/"$scheduler"/task/*/schedstat | awk '{ all += $1 } END { printf "%d\n", all }'
}
wait_bound() { # COUNT
    until [ "$(grep -c 'Successfully bound pod' "$folder/log")" -ge "$1" ]; do
        kill -0 "$scheduler" 2>/dev/null || { cat "$folder/log" >&2; exit 1; }
        sleep 0.2
    done
    sleep 2
}
# Prints bound and cumulative count of each bucket.
histogram() {
    curl -sk "https://127.0.0.1:$port/metrics" |
        sed -n 's/^scheduler_watch_to_bind_duration_seconds_bucket{le="\(.*\)"} /\1 /p'
}
# Prints p50 and p99 in µs of the observations between two histograms.
quantiles() { # BEFORE AFTER
    paste -d ' ' "$1" "$2" | awk '{ bound[NR] = $1; count[NR] = $4 - $2 } END {
        if (!count[NR]) { print "no pod was counted" >"/dev/stderr"; exit 1 }
        n = split("0.5 0.99", part, " ")
        for (q = 1; q <= n; q++)
            for (i = 1; i <= NR; i++)
                if (count[i] >= part[q] * count[NR]) { printf bound[i] == "+Inf" ? "more " : "%.0f ", bound[i] * 1e6; break }
        print ""
    }'
}
pods() { # FIRST COUNT RATE
    histogram >"$folder/before"
    before=$(cpu)
    send pods "$@"
    wait_bound $(($1 + $2))
    after=$(cpu)
    histogram >"$folder/after"
    quantiles "$folder/before" "$folder/after" >"$folder/quantiles"
    read -r p50 p99 <"$folder/quantiles"
    cost=$(awk -v ns=$((after - before)) -v pods="$2" 'BEGIN { printf "%.0f", ns / pods / 1000 }')
}

serve ${FLAGS:-}
send nodes 0 "$nodes"
start "$binary"
sleep 3
pods 0 200 20
idle50=$p50 idle99=$p99
pods 200 5000 "$rate"
sleep 5
before=$(cpu)
sleep 10
idle=$(($(cpu) - before))
before=$(cpu)
send heartbeats 0 $((nodes / 10)) $(((nodes + 299) / 300))
beats=$(($(cpu) - before))
stop

profile=edge
serve ${FLAGS:-}
send nodes 0 100
send pods 0 1000
start "$edge"
wait_bound 1000
first=$(grep -m 1 'Successfully bound pod' "$folder/log" | jq ".ts - $(cat "$folder/started") | round")
resident=$(awk '/VmRSS/ { printf "%.1f", $2 * 1024 / 1e6 }' "/proc/$scheduler/status")
size=$(wc -c <"$edge" | awk '{ printf "%.1f", $1 / 1e6 }')
stop

seconds=$(awk -v beats=$((nodes / 10)) -v rate=$(((nodes + 299) / 300)) 'BEGIN { print beats / rate }')
percent() { awk -v ns="$1" -v s="$2" 'BEGIN { printf "%.3f", ns / s / 1e7 }'; }
cat >"$folder/table" <<TABLE
| | measured | goal |
|---|--:|--:|
| watch event to binding request, 20 pods per second, p50 and p99 | at most $idle50 and $idle99 µs | p99 at most 150 µs |
| watch event to binding request, $rate pods per second, p50 and p99 | at most $p50 and $p99 µs | p99 at most 1000 µs |
| CPU time per bound pod at $rate pods per second | $cost µs | a fiftieth of kube-scheduler |
| idle, $nodes nodes | $(percent "$idle" 10) % of a core | |
| idle with heartbeats, $nodes nodes | $(percent "$beats" "$seconds") % of a core | less than 0.1 % |
| \`edge\`: size of the program | $size MB | at most 5 MB |
| \`edge\`: resident memory, 100 nodes and 1,000 pods | $resident MB | at most 8 MB |
| \`edge\`: start to first binding, 100 nodes and 1,000 pods | $first ms | at most 20 ms |
TABLE
if [ -n "${PRINT:-}" ]; then cat "$folder/table"; else fill run "fake API server" "$folder/table"; fi
