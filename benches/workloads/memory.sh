#!/bin/sh
# Measures the memory of `schedc run` with the fake API server, and writes the table into docs/performance.md:
#
#     benches/workloads/memory.sh [BINARY [SERVER]]
#
# BINARY  program with the profile `default` and the feature `run`; default: target/dist/schedc
# SERVER  the fake API server; default: target/release/examples/serve (cargo build --release -p schedc-fake-apiserver --example serve)
# NODES=1000  number of nodes
# PODS=150000  number of pods in the measurement of a long life
# BATCH=3000  number of pods that are created at once, before those of the previous batch are deleted
# BURST=4000  number of unschedulable pods at the start
# PRINT=1 prints the tables and leaves the page as it is.
#
# Each pod has a unique name, unique labels, and a selector of these labels; ten pods share a namespace. Memory is the resident memory of the
# scheduler, from /proc/PID/status. curl and jq are required.
set -eu
cd "$(dirname "$0")/../.."
. benches/workloads/fill.sh
binary=${1:-target/dist/schedc} server=${2:-target/release/examples/serve}
nodes=${NODES:-1000} pods=${PODS:-150000} batch=${BATCH:-3000} burst=${BURST:-4000}
. benches/workloads/fake_apiserver.sh

# Sends one request for each object, over one connection: objects VERB KIND FIRST LAST. Pods of the kind `unschedulable` fit nowhere.
objects() {
    awk -v url="$url" -v verb="$1" -v kind="$2" -v first="$3" -v last="$4" "$awk_functions"'BEGIN {
        for (i = first; i <= last; i++) {
            namespace = "team-" int(i / 10)
            if (kind == "nodes") {
                path = "/api/v1/nodes"; name = "node-" i
                body = node(i)
            } else if (kind == "namespaces") {
                if (i % 10) continue
                path = "/api/v1/namespaces"; name = namespace
                body = "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"" name "\",\"labels\":{\"team\":\"" name "\"}}}"
            } else {
                path = "/api/v1/namespaces/" namespace "/pods"; name = "web-" i
                cpu = kind == "unschedulable" ? "64" : "100m"
                selector = "\"labelSelector\":{\"matchLabels\":{\"app\":\"" name "\"}}"
                body = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name "\",\"labels\":{\"app\":\"" name "\",\"revision\":\"revision-" i "\"}},\"spec\":{\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"topology.kubernetes.io/zone\",\"whenUnsatisfiable\":\"ScheduleAnyway\"," selector "}],\"affinity\":{\"podAntiAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":3,\"podAffinityTerm\":{\"topologyKey\":\"topology.kubernetes.io/zone\"," selector "}}]}},\"containers\":[{\"name\":\"web\",\"image\":\"registry.example.com/web:1\",\"resources\":{\"requests\":{\"cpu\":\"" cpu "\",\"memory\":\"200Mi\"}}}]}}"
            }
            if (verb == "DELETE") request(url path "/" name "?gracePeriodSeconds=0", "", "")
            else request(url path, "application/json", body)
            print "request = " verb
        }
    }' >"$folder/requests"
    curl -K "$folder/requests"
}
start_server() {
    serve
    objects POST nodes 1 "$nodes"
}
start_scheduler() {
    "$binary" run --kubeconfig "$folder/config" --secure-port=0 --leader-elect=false >"$folder/log" 2>&1 &
    scheduler=$!
    pids="$pids $scheduler"
}
# Waits until this jq filter is true for all pods of the API server: wait_for FILTER
wait_for() {
    while [ "$(curl -s "$url/api/v1/pods" | jq "[.items[] | select($1 | not)] | length")" -gt 0 ]; do
        kill -0 "$scheduler" 2>/dev/null || { cat "$folder/log" >&2; exit 1; }
        sleep 0.2
    done
}
# Prints the current or the largest resident memory of the scheduler in MB: resident VmRSS|VmHWM
resident() { awk -v field="$1:" '$1 == field { printf "%.1f\n", $2 * 1024 / 1e6 }' "/proc/$scheduler/status"; }
# Prints the CPU time of the scheduler in µs.
cpu() { awk '{ sum += $1 } END { printf "%d\n", sum / 1000 }' /proc/"$scheduler"/task/*/schedstat; }

# Memory with a burst of pods that fit nowhere.
start_server
start_scheduler
sleep 3
idle=$(resident VmRSS)
kill "$scheduler"
objects POST namespaces 0 "$burst"
objects POST unschedulable 0 "$((burst - 1))"
start_scheduler
sleep 1
wait_for '.status.conditions // [] | any(.reason == "Unschedulable")'
sleep 15
written=$(resident VmRSS) peak=$(resident VmHWM)
objects DELETE unschedulable 0 "$((burst - 1))"
objects DELETE namespaces 0 "$burst"
sleep 15
after=$(resident VmRSS)
stop
{
    echo "| $burst pods that fit nowhere, at the start | MB |"
    echo "|---|--:|"
    echo "| without pods | $idle |"
    echo "| largest | $peak |"
    echo "| 15 seconds after all status patches | $written |"
    echo "| 15 seconds after the deletion of the pods | $after |"
} >"$folder/table"

# Memory during a long life.
start_server
start_scheduler
sleep 3
{
    echo
    echo "| unique pods | MB | CPU time per pod, µs |"
    echo "|--:|--:|--:|"
} >>"$folder/table"
first=0 lines=10 used=$(cpu) line=1
while [ "$first" -lt "$pods" ]; do
    last=$((first + batch - 1))
    objects POST namespaces "$first" "$last"
    objects POST pods "$first" "$last"
    wait_for .spec.nodeName
    if [ "$first" -gt 0 ]; then
        objects DELETE pods "$((first - batch))" "$((first - 1))"
        objects DELETE namespaces "$((first - batch))" "$((first - 1))"
    fi
    first=$((last + 1))
    if [ "$first" -ge "$((pods * line / lines))" ]; then
        now=$(cpu)
        echo "| $first | $(resident VmRSS) | $(((now - used) * lines / pods)) |" | tee -a "$folder/table" >&2
        used=$now line=$((line + 1))
    fi
done
stop
if [ -n "${PRINT:-}" ]; then cat "$folder/table"; else fill performance "memory of run" "$folder/table"; fi
