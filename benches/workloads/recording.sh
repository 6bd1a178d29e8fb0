#!/bin/sh
# Measures the cost of `schedc run --record`, and writes the table into docs/record.md: benches/workloads/recording.sh [BINARY [SERVER]]
#
# BINARY  program with the profile `default` and the features `run` and `recordings`; default: target/dist/schedc
# SERVER  the fake API server; default: target/release/examples/serve (cargo build --release -p schedc-fake-apiserver --example serve)
# NODES=1000 PODS=5000 RUNS=3 are the numbers of nodes, pods, and runs with `--record`. PRINT=1 prints the table and leaves the page as it is.
#
# Before each run with `--record`, there is one without; the table has medians. CPU time is that of all threads of the scheduler, from
# before the pods are created to two seconds after the last binding (/proc/PID/task/*/schedstat). curl and jq are required.
set -eu
cd "$(dirname "$0")/../.."
. benches/workloads/fill.sh
binary=${1:-target/dist/schedc} server=${2:-target/release/examples/serve}
nodes=${NODES:-1000} pods=${PODS:-5000} runs=${RUNS:-3}
. benches/workloads/fake_apiserver.sh

# Writes a curl configuration that creates these objects.
requests() { # URL KIND COUNT
    awk -v url="$1" -v kind="$2" -v count="$3" "$awk_functions"'BEGIN {
        for (i = 0; i < count; i++) {
            if (kind == "nodes") {
                request(url "/api/v1/nodes", "application/json", node(i))
                continue
            }
            set = int(i / 50)
            request(url "/api/v1/namespaces/default/pods", "application/json", \
                "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-" set "-" i "\",\"namespace\":\"default\",\"labels\":{\"app\":\"web-" set "\"},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"web-" set "\",\"uid\":\"web-" set "\",\"controller\":true}]},\"spec\":{\"tolerations\":[{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":300}],\"containers\":[{\"name\":\"web\",\"image\":\"registry.example.com/web:1\",\"resources\":{\"requests\":{\"cpu\":\"100m\",\"memory\":\"200Mi\"}}}]}}")
        }
    }'
}
# Prints the CPU time of a process in nanoseconds: that of all threads, and that of the recording thread.
cpu() { # PID
    for task in /proc/"$1"/task/*; do
        echo "$(cat "$task/comm") $(cut -d ' ' -f 1 "$task/schedstat")"
    done | awk '{ all += $2 } $1 == "recording" { part += $2 } END { printf "%d %d\n", all, part }'
}
size() { find "$1" -type f -exec cat {} + | wc -c; }

# Runs a scheduler, and prints three numbers per pod: the CPU time of all threads in µs, that of the recording thread, and the bytes recorded.
run() { # NAME FLAGS...
    name=$folder/$1
    shift
    serve
    requests "$url" nodes "$nodes" >"$name.nodes"
    requests "$url" pods "$pods" >"$name.pods"
    curl -K "$name.nodes"
    "$binary" run --kubeconfig "$folder/config" --secure-port=0 --leader-elect=false "$@" >"$name.log" 2>&1 &
    scheduler=$!
    pids="$pids $scheduler"
    sleep 3
    before=$(cpu "$scheduler") size=0
    [ ! -d "$folder/recording" ] || size=$(size "$folder/recording")
    curl -K "$name.pods"
    bound() { curl -s "$url/api/v1/pods" | jq '[.items[] | select(.spec.nodeName)] | length'; }
    while [ "$(bound)" -lt "$pods" ]; do
        kill -0 "$scheduler" 2>/dev/null || { cat "$name.log" >&2; exit 1; }
        sleep 0.5
    done
    sleep 2
    after=$(cpu "$scheduler")
    [ ! -d "$folder/recording" ] || size=$(($(size "$folder/recording") - size))
    stop
    echo "$before $after $size" | awk -v pods="$pods" '{ print ($3 - $1) / pods / 1000, ($4 - $2) / pods / 1000, $5 / pods }'
    rm -rf "$folder/recording"
}
number=1
while [ "$number" -le "$runs" ]; do
    run "plain-$number" >>"$folder/plain"
    run "recorded-$number" --record "$folder/recording" >>"$folder/recorded"
    number=$((number + 1))
done
median() { # FILE COLUMN
    cut -d ' ' -f "$2" "$folder/$1" | sort -n | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}
awk -v plain="$(median plain 1)" -v recorded="$(median recorded 1)" -v thread="$(median recorded 2)" -v bytes="$(median recorded 3)" 'BEGIN {
    print "| | without `--record` | with `--record` |"
    print "|---|--:|--:|"
    printf "| CPU time per pod, µs | %.1f | %.1f (%+.0f %%) |\n", plain, recorded, 100 * (recorded / plain - 1)
    printf "| of it in the thread of the recording, µs | | %.1f |\n", thread
    printf "| size of the recording per pod, bytes | | %.0f |\n", bytes
}' >"$folder/table"
if [ -n "${PRINT:-}" ]; then
    cat "$folder/plain" "$folder/recorded" "$folder/table"
else
    fill record "cost of recordings" "$folder/table"
fi
