#!/bin/sh
# Measures kube-scheduler in the workloads of docs/performance.md, by Kubernetes' scheduler_perf, and writes the times into
# benches/workloads/kube_scheduler.json, which tables.sh reads:
#
#     SCHEDULER_PERF=scheduler_perf.test ETCD=etcd benches/workloads/kube_scheduler.sh [WORKLOAD...]
#
# WORKLOAD        workloads of this folder, such as `DaemonSet/15000Nodes` or only `DaemonSet`; the file keeps the values of the others;
#                 default: those listed below
# SCHEDULER_PERF  test program of scheduler_perf; in Kubernetes' source:
#                 go test -c -o scheduler_perf.test ./test/integration/scheduler_perf/misc
# ETCD            program; default: that of PATH
#                 (paths are relative to the repository)
# PODS=1000       maximum number of measured pods in a workload
# FEATURES        feature gates of kube-scheduler, such as `OpportunisticBatching: true`; default: those of scheduler_perf
# PRINT=1         prints the values and leaves the file as it is
# KEEP            new folder for logs and metrics; default: a temporary one
#
# curl and jq are required. The script takes about 20 minutes on two idle cores. scheduler_perf reads the files of this folder, with the
# same nodes, pods and templates as `schedc bench`. It runs an API server and kube-scheduler in one process. A value is the mean of
# scheduler_scheduling_algorithm_duration_seconds over all attempts from the creation of the measured pods until all of them are bound.
set -eu
cd "$(dirname "$0")/../.."
. benches/workloads/folder.sh
perf=$(program SCHEDULER_PERF "${SCHEDULER_PERF:-scheduler_perf.test}" "the test program of scheduler_perf")
etcd=$(program ETCD "${ETCD:-etcd}" "an etcd program")
for needed in curl jq; do command -v "$needed" >/dev/null || { echo "$needed is required" >&2; exit 1; }; done
perf=$(realpath "$perf") etcd=$(realpath "$etcd")
pods=${PODS:-1000} file=benches/workloads/kube_scheduler.json
tmp=
# Ends scheduler_perf and its etcd. An orderly end takes more than a minute.
end_run() {
    [ -n "$tmp" ] || return 0
    for process in "$tmp"/*.pid; do kill -9 "$(cat "$process")" 2>/dev/null || true; done
    wait
    rm -rf "$tmp"
    tmp=
}
stop() {
    end_run
    remove_folder
}
new_folder
mkdir "$dir/bin"
cat >"$dir/bin/etcd" <<EOF
#!/bin/sh
echo \$\$ >"\$TMPDIR/etcd.pid"
exec "$etcd" "\$@"
EOF
chmod +x "$dir/bin/etcd"
export PATH="$dir/bin:$PATH" KUBE_CACHE_MUTATION_DETECTOR=false

# Prints the test case of $workload, with at most $pods measured pods.
# Namespaces mark the begin and the end of the measurement. The sleeps leave time to read the metrics. scheduler_perf would need ten
# seconds to collect its default metrics.
config() {
    awk -v test="$test" -v name="$name" -v pods="$pods" -v features="$features" '
        function mark(what, duration) {
            printf "  - { opcode: createNamespaces, prefix: measurement-%s, count: 1 }\n  - { opcode: sleep, duration: %s }\n", what, duration
        }
        function end_operation() {
            if (operation ~ /collectMetrics: true/) { mark("begins", "1s"); printf "%s", operation; mark("ends", "60s") }
            else printf "%s", operation
            operation = ""
        }
        /^[^ ]/ { printing = $0 == "- name: " test; template = 0 }
        !printing { next }
        /^  workloads:/ { end_operation(); template = 0 }
        template && /^  - / { end_operation() }
        template { operation = operation $0 "\n"; next }
        /^  workloadTemplate:/ {
            template = 1
            print "  metricsCollectorConfig: { metrics: { scheduler_scheduling_algorithm_duration_seconds: null } }"
            print "  featureGates: { " features " }"
        }
        /^  - name: / { chosen = $3 == name }
        chosen && match($0, /measurePods: [0-9]+/) && substr($0, RSTART + 13, RLENGTH - 13) + 0 > pods {
            $0 = substr($0, 1, RSTART + 12) pods substr($0, RSTART + RLENGTH)
        }
        { print }
    ' "$source"
}
# Requests a path of the API server, with the certificate of its aggregation layer.
get() {
    curl -sSfk --max-time 60 --cert "$tmp"/kubernetes-kube-apiserver*/misty-crt.crt --key "$tmp"/kubernetes-kube-apiserver*/misty-crt.key \
        -H "X-Remote-User: admin" -H "X-Remote-Group: system:masters" "https://127.0.0.1:$port/$1"
}
# Waits until a command succeeds: wait_for SECONDS COMMAND
wait_for() {
    seconds=$1; shift
    until_success "$seconds" 0.2 succeeds_or_ended "$@" || fails "$workload failed: no success of: $*"
    kill -0 "$perf_pid" 2>/dev/null || fails "$workload failed: scheduler_perf ended"
}
succeeds_or_ended() { "$@" || ! kill -0 "$perf_pid" 2>/dev/null; }
find_port() {
    port=$(sed -n 's/.*Serving securely on 127\.0\.0\.1:\([0-9]*\).*/\1/p' "$run"/*.log | head -1)
    [ -n "$port" ]
}
# Prints the number and the sum of the durations in a file of metrics: durations FILE
durations() {
    awk '$1 ~ /^scheduler_scheduling_algorithm_duration_seconds_/ { value[$1 ~ /_count$/] = $2 }
        END { print value[1] == "" ? "0 0" : value[1] " " value[0] }' "$1"
}
# Measures $workload, and writes its value into the file.
measure() {
    test=${workload%%/*} name=${workload#*/} run=$dir/${workload%%/*}-${workload#*/}
    source=$(grep -lx -e "- name: $test" benches/workloads/*.yaml) || { echo "no file in benches/workloads has $test" >&2; exit 1; }
    # The path of etcd's socket must be short.
    tmp=$(mktemp -d)
    mkdir "$run"
    ln -s "$PWD/benches/workloads/templates" "$run/templates"
    features=${FEATURES:-}
    # scheduler_perf starts the controller of claims only if the feature is set.
    [ "$source" != benches/workloads/claims.yaml ] || features="DynamicResourceAllocation: true${features:+, $features}"
    config >"$run/performance-config.yaml"
    (cd "$run" && TMPDIR=$tmp ARTIFACTS=$run exec "$perf" -test.run '^$' -test.benchtime 1x -test.timeout 30m \
        -test.bench "^BenchmarkPerfScheduling\$/^$test\$/^$name\$" -data-items-dir "$run" -perf-scheduling-label-filter '') >"$run/output" 2>&1 &
    perf_pid=$!
    echo "$perf_pid" >"$tmp/scheduler_perf.pid"
    wait_for 120 find_port
    wait_for 900 get api/v1/namespaces/measurement-begins-0
    get metrics >"$run/before"
    wait_for 900 get api/v1/namespaces/measurement-ends-0
    get metrics >"$run/after"
    version=$(get version | jq -r .gitVersion)
    end_run
    # shellcheck disable=SC2046
    set -- $(durations "$run/before") $(durations "$run/after")
    jq -nc --arg workload "$workload" --arg version "$version" --arg date "$(date -u +%F)" --arg cpu "$cpu" --argjson attempts "$(($3 - $1))" \
        --argjson seconds "$(echo "$2 $4" | awk '{ print $2 - $1 }')" \
        '{ ($workload): { ms: ($seconds / $attempts * 1e5 | round / 100), $attempts, $version, $cpu, $date } }' >"$run/value"
    cat "$run/value" >&2
    [ -z "${PRINT:-}" ] || return 0
    [ -e "$file" ] || echo '{}' >"$file"
    jq -rs 'add | "{\n" + (to_entries | map("    \(.key | tojson): \(.value | tojson)") | join(",\n")) + "\n}"' "$file" "$run/value" >"$run/file"
    cp "$run/file" "$file"
}

workloads="
    Basic/5000Nodes
    NodeAffinity/5000Nodes
    DaemonSet/15000Nodes
    PodAffinity/5000Nodes
    PodAntiAffinity/5000Nodes
    PreferredPodAffinity/5000Nodes
    PodAntiAffinityBySelector/5000Nodes
    Mixed/5000Nodes
    TopologySpread/5000Nodes
    PreferredTopologySpread/5000Nodes
    Secrets/5000Nodes
    CsiVolumes/5000Nodes
    Preemption/5000Nodes
    PreemptionAmongOthers/5000Nodes
    Unschedulable/5000Nodes
    AmongGated/10000Gated
    Claims/500Nodes
"
cpu="$(nproc) x $(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -1)"
[ $# != 0 ] || set -- $workloads
for workload; do
    case $workload in
        */*) ;;
        *) workload=$(echo "$workloads $workload/5000Nodes" | tr -s '[:space:]' '\n' | grep -m 1 "^$workload/") ;;
    esac
    measure
done
