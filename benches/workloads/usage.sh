#!/bin/sh
# Compares `schedc run` with kube-scheduler at a real API server, and writes the table into docs/run.md:
#
#     KUBE_APISERVER=kube-apiserver ETCD=etcd KUBE_SCHEDULER=kube-scheduler benches/workloads/usage.sh
#
# KUBE_APISERVER, ETCD, KUBE_SCHEDULER  programs (paths are relative to the repository); default: those of PATH
# EDGE, DEFAULT  programs with one profile (`schedc build edge -o target/edge`); default: target/edge, target/default
# ROUNDS=3       number of runs of each program; the table has their medians
# PORT           port of the API server; etcd uses the next two; default: 28443
# KEEP           new folder for logs, audit logs and results; default: a temporary one
# PRINT=1        prints the table and leaves the page as it is
#
# openssl, curl and jq are required. The programs run in turns, each run with a new API server, and take about two minutes per round. The first
# part of a run has 100 nodes and 1,000 running pods; the second part 1,000 nodes, and 5,000 pods that are created while the scheduler runs.
# CPU time is from /proc/PID/task/*/schedstat, from before the creation of these pods until five seconds after the last binding; resident memory is VmRSS,
# ten seconds after the first binding, and at the end. The times and the number of bindings are from the audit log.
set -eu
cd "$(dirname "$0")/../.."
. benches/workloads/fill.sh
. benches/workloads/folder.sh
. benches/workloads/apiserver.sh
apiserver=$(program KUBE_APISERVER "${KUBE_APISERVER:-kube-apiserver}" "a kube-apiserver program")
etcd=$(program ETCD "${ETCD:-etcd}" "an etcd program")
kube=$(program KUBE_SCHEDULER "${KUBE_SCHEDULER:-kube-scheduler}" "a kube-scheduler program")
edge=$(program EDGE "${EDGE:-target/edge}" "a program of \`schedc build edge\`")
default=$(program DEFAULT "${DEFAULT:-target/default}" "a program of \`schedc build default\`")
rounds=${ROUNDS:-3} port=${PORT:-28443}
new_folder

certificates admin /O=system:masters/CN=admin
scheduler_config 10000 '{}'
jq -n '{
    apiVersion: "audit.k8s.io/v1", kind: "Policy", omitStages: ["RequestReceived"],
    rules: [{ level: "Metadata", resources: [{ group: "", resources: ["pods/binding"] }] }, { level: "None" }]
}' >"$dir/policy.json"

nodes() { # FROM COUNT
    jq -nc --argjson from "$1" --argjson count "$2" 'range($from; $from + $count) | "node-\(.)" as $name | {
        apiVersion: "v1", kind: "Node", metadata: { $name, labels: { "kubernetes.io/hostname": $name } },
        status: ({ cpu: "4", memory: "32Gi", pods: "110" } as $capacity | { $capacity, allocatable: $capacity })
    }' | send
}
# Creates pods: pods NAME COUNT [NODES], where the number of nodes makes them running pods
pods() {
    jq -nc --arg name "$1" --argjson count "$2" --argjson nodes "${3:-0}" --arg schedulerName "$scheduler_name" 'range($count) | {
        apiVersion: "v1", kind: "Pod", metadata: { name: "\($name)-\(.)", namespace: "default", labels: { app: $name } },
        spec: ({ $schedulerName, containers: [{ name: "app", image: "app", resources: { requests: { cpu: "100m", memory: "500Mi" } } }] }
            + if $nodes > 0 then { nodeName: "node-\(. % $nodes)" } else {} end)
    }' | send
}
are_bound() { # NAME COUNT
    [ "$(grep -F '"code":201' "$audit" | grep -cF "/pods/$1-")" -ge "$2" ]
}
cpu_ns() { cat /proc/"$(pid scheduler)"/task/*/schedstat | awk '{ sum += $1 } END { printf "%.0f\n", sum }'; }
resident_kb() { awk '$1 == "VmRSS:" { print $2 }' "/proc/$(pid scheduler)/status"; }
start_scheduler() {
    case $scheduler in
        kube) start scheduler "$kube" --config "$dir/config.json" --secure-port=0 ;;
        edge) start scheduler "$edge" run --kubeconfig "$dir/admin.kubeconfig" --leader-elect=false --secure-port=0 ;;
        default) start scheduler "$default" run --kubeconfig "$dir/admin.kubeconfig" --leader-elect=false --secure-port=0 ;;
    esac
}
measure() { # appends the results of one run of $scheduler
    scheduler_name=default-scheduler
    [ "$scheduler" != edge ] || scheduler_name=edge
    rm -rf "$dir/etcd"
    audit=$dir/audit-$scheduler-$round.log
    : >"$audit"
    start_etcd --unsafe-no-fsync
    start_apiserver --audit-policy-file="$dir/policy.json" --audit-log-path="$audit"
    until_success 60 0.5 request "$port/api/v1/namespaces/default" || fails "there is no namespace default"
    nodes 0 100
    pods running 1000 100
    pods first 1
    begin=$(date +%s.%N)
    start_scheduler
    until_success 60 0.1 are_bound first 1 || fails "$scheduler has not bound the first pod"
    sleep 10
    small_kb=$(resident_kb)
    kill_programs scheduler

    nodes 100 900
    start_scheduler
    sleep 10
    before=$(cpu_ns)
    pods measured 5000
    until_success 180 0.2 are_bound measured 5000 || fails "$scheduler has not bound all pods"
    sleep 5
    cpu_ns=$(($(cpu_ns) - before))
    large_kb=$(resident_kb)
    kill_programs
    jq -nR --arg scheduler "$scheduler" --argjson begin "$begin" --argjson small_kb "$small_kb" --argjson large_kb "$large_kb" \
        --argjson cpu_ns "$cpu_ns" '
        def time: capture("(?<whole>[^.Z]*)(?<rest>[.][0-9]+)?Z") | (.whole + "Z" | fromdateiso8601) + ("0" + (.rest // ".0") | tonumber);
        [inputs | fromjson? | select(.responseStatus.code == 201) | { name: .objectRef.name, at: (.stageTimestamp | time) }] as $bindings
        | ($bindings | map(select(.name | startswith("measured-")).at)) as $measured
        | { $scheduler, $small_kb, $large_kb, cpu_ms: ($cpu_ns / 1e6 / 5000), first_ms: (($bindings[0].at - $begin) * 1000),
            rate: (($measured | length - 1) / (($measured | max) - ($measured | min))) }
    ' "$audit" >"$dir/run.json"
    jq -c . "$dir/run.json" >&2
    cat "$dir/run.json" >>"$dir/results.json"
}

for round in $(seq "$rounds"); do
    for scheduler in edge default kube; do measure; done
done
bytes() { stat -Lc %s "$1"; }
jq -rs --argjson sizes "{ \"edge\": $(bytes "$edge"), \"default\": $(bytes "$default"), \"kube\": $(bytes "$kube") }" '
    def round_to($digits): . * pow(10; $digits) | round / pow(10; $digits) | tostring;
    def median: sort | .[length / 2 | floor];
    (group_by(.scheduler) | map({ key: .[0].scheduler, value: . }) | from_entries) as $runs
    | def of($scheduler; value): $runs[$scheduler] | map(value) | median;
    def cells(value; $digits; $unit): ["edge", "default", "kube"] | map(of(.; value) | round_to($digits) + $unit);
    def times($scheduler): of("kube"; .cpu_ms) / of($scheduler; .cpu_ms) | round_to(0);
    ["", "schedc, `edge.toml`", "schedc, `default.toml`", "kube-scheduler", "goal for schedc"], ["---", "---", "---", "---", "---"],
    ["program", (["edge", "default", "kube"][] | $sizes[.] / 1e6 | round_to(1) + " MB"), "at most 5 MB for `edge.toml`"],
    ["resident memory, 100 nodes and 1,000 pods", cells(.small_kb * 1024 / 1e6; 1; " MB")[], "at most 8 MB for `edge.toml`"],
    ["resident memory after 5,000 bindings on 1,000 nodes", cells(.large_kb * 1024 / 1e6; 1; " MB")[], ""],
    ["start to first binding, 100 nodes and 1,000 pods", cells(.first_ms; 0; " ms")[], "at most 20 ms for `edge.toml`"],
    ["CPU time per pod, 5,000 pods on 1,000 nodes, its event included", cells(.cpu_ms; 3; " ms")[], ""],
    ["kube-scheduler\u0027s CPU time divided by that of schedc", times("edge"), times("default"), "", "at least 50"],
    ["bindings per second while the pods are created", cells(.rate; 0; "")[], ""]
    | "| " + join(" | ") + " |"' "$dir/results.json" | sed '2s/.*/|---|---|---|---|---|/' >"$dir/table.md"
if [ "${PRINT:-}" = 1 ]; then cat "$dir/table.md"; else fill run "real API server" "$dir/table.md"; fi
