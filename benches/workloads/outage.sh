#!/bin/sh
# Stops a real API server and prints the table of docs/run.md, "Outages of a real API server":
#
#     KUBE_APISERVER=kube-apiserver ETCD=etcd benches/workloads/outage.sh > outages.md
#
# KUBE_APISERVER, ETCD  programs (paths are relative to the repository); default: those of PATH
# KUBE_SCHEDULER        program to compare with; default: none
# SCHEDC                program with the profile `default` and the feature `run`; default: target/dist/schedc
# OUTAGES               number of outages for each row; default: 4. SIGKILL and SIGTERM stop the server in turn
# OUTAGE_SECONDS        seconds from a stop to the next start; default: 300
# PORT                  port of the API server; etcd uses the next two; default: 26443
# KEEP                  new folder for logs, the audit log and results; default: a temporary one
#
# openssl, curl and jq are required. With the defaults, a run takes about an hour. schedc and kube-scheduler watch the same server, with
# separate scheduler names, leases, client certificates and users. One pod for each scheduler is created as soon as /readyz returns `ok`; all
# times of requests are from the audit log.
set -eu
cd "$(dirname "$0")/../.."
. benches/workloads/folder.sh
. benches/workloads/apiserver.sh
apiserver=$(program KUBE_APISERVER "${KUBE_APISERVER:-kube-apiserver}" "a kube-apiserver program")
etcd=$(program ETCD "${ETCD:-etcd}" "an etcd program")
schedc=$(program SCHEDC "${SCHEDC:-target/dist/schedc}" "a schedc program with the feature run")
kube=${KUBE_SCHEDULER:-}
outages=${OUTAGES:-4} seconds=${OUTAGE_SECONDS:-300} port=${PORT:-26443}
schedulers="schedc${kube:+ kube}"

# Ends the programs by their process ids: a signal to the loop of `supervise` would not end its child.
stop() {
    touch "$dir/stop"
    kill_programs
    wait
    remove_folder
}
new_folder
audit=$dir/audit.log results=$dir/results.json
: >"$results"

subjects=
for name in $schedulers; do subjects="$subjects $name /CN=$name"; done
# shellcheck disable=SC2086
certificates admin /O=system:masters/CN=admin $subjects

jq -n '{ apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] }' >"$dir/policy.json"

create() { # PATH; the object is read from standard input
    request "$port$1" -H "Content-Type: application/json" --data-binary @- >/dev/null
}
now() { date +%s.%N; }

start_audited_apiserver() { start_apiserver --audit-policy-file="$dir/policy.json" --audit-log-path="$audit"; }
# Starts a program again one second after it exits, as a service manager does: supervise NAME COMMAND
supervise() {
    while [ ! -f "$dir/stop" ]; do
        start "$@"
        [ ! -f "$dir/stop" ] || kill -9 $! 2>/dev/null || true
        wait $! 2>/dev/null || true
        sleep 1
    done
}
# Ends the supervised schedulers.
stop_schedulers() {
    touch "$dir/stop"
    # shellcheck disable=SC2086
    kill_programs $schedulers
    for supervisor in $supervisors; do wait "$supervisor" 2>/dev/null || true; done
    rm "$dir/stop"
}
create_pods() { # NAME
    for scheduler in $schedulers; do
        jq -n --arg name "$1-$scheduler" --arg scheduler "$scheduler" '{
            apiVersion: "v1", kind: "Pod", metadata: { $name },
            spec: {
                schedulerName: (if $scheduler == "schedc" then "default-scheduler" else $scheduler end),
                containers: [{ name: "app", image: "app", resources: { requests: { cpu: "10m" } } }]
            }
        }' | create /api/v1/namespaces/default/pods
    done
}
# Whether the audit log has the binding of a pod: is_bound POD
is_bound() {
    grep -F "/pods/$1/binding" "$audit" | grep -F '"ResponseComplete"' | grep -q '"code":201'
}
wait_for_bindings() { # NAME
    for scheduler in $schedulers; do
        until_success 180 0.2 is_bound "$1-$scheduler" || echo "pod $1-$scheduler is not bound; see $dir/$scheduler.log (set KEEP to keep it)" >&2
    done
}
# Appends the measurements of one outage: measure NAME ELECTION START READY. Skips lines of the audit log that SIGKILL cut.
measure() {
    for scheduler in $schedulers; do
        jq -cnR --arg pod "$1-$scheduler" --arg scheduler "$scheduler" --arg election "$2" --argjson start "$3" --argjson ready "$4" '
            def time: capture("(?<whole>[^.Z]*)(?<rest>[.][0-9]+)?Z")
                | (.whole + "Z" | fromdateiso8601) + ("0" + (.rest // ".0") | tonumber);
            reduce (inputs | fromjson? | select(.user.username == $scheduler)) as $event ({ $scheduler, $election, binding: null, requests: [] };
                if $event.stage == "ResponseComplete" and $event.objectRef.subresource == "binding" and $event.objectRef.name == $pod
                    and $event.responseStatus.code == 201
                then .binding = ($event.stageTimestamp | time) - $ready
                elif $event.stage == "RequestReceived"
                then ($event.stageTimestamp | time) as $at
                    | if $at >= $start and $at <= $ready + 10 then .requests += [$at - $start | floor] else . end
                else . end)
            | .most = (.requests | group_by(.) | map(length) | max // 0) | .requests |= length
        ' "$audit" >>"$results"
    done
}

start_etcd
start_audited_apiserver

# An additional role is necessary: system:kube-scheduler permits no lease except kube-scheduler's, and only to read the kinds that
# kube-scheduler reads.
jq -n '{
    apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "outage" },
    rules: [
        { apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch"] },
        { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create", "update", "patch"] }
    ]
}' | create /apis/rbac.authorization.k8s.io/v1/clusterroles
for role in system:kube-scheduler system:volume-scheduler outage; do
    jq -n --arg role "$role" --arg schedulers "$schedulers" '{
        apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding", metadata: { name: "outage-\($role)" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: $role },
        subjects: ($schedulers / " " | map({ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: . }))
    }' | create /apis/rbac.authorization.k8s.io/v1/clusterrolebindings
done
for node in $(seq 100); do
    jq -n --arg name "node-$node" '{
        apiVersion: "v1", kind: "Node", metadata: { $name, labels: { "kubernetes.io/hostname": $name } },
        status: { allocatable: { cpu: "8", memory: "32Gi", pods: "110" }, capacity: { cpu: "8", memory: "32Gi", pods: "110" } }
    }' | create /api/v1/nodes
done

for election in false true; do
    supervisors=
    jq -n --argjson election "$election" --arg kubeconfig "$dir/kube.kubeconfig" '{
        apiVersion: "kubescheduler.config.k8s.io/v1", kind: "KubeSchedulerConfiguration", clientConnection: { $kubeconfig },
        leaderElection: { leaderElect: $election, resourceName: "kube" }, profiles: [{ schedulerName: "kube" }]
    }' >"$dir/config.json"
    supervise schedc "$schedc" run --kubeconfig "$dir/schedc.kubeconfig" --leader-elect="$election" --leader-elect-resource-name=schedc \
        --secure-port=0 &
    supervisors="$supervisors $!"
    if [ -n "$kube" ]; then
        supervise kube "$kube" --config "$dir/config.json" --secure-port=0 &
        supervisors="$supervisors $!"
    fi
    create_pods "before-$election"
    wait_for_bindings "before-$election"
    for outage in $(seq "$outages"); do
        signal=$([ $((outage % 2)) = 1 ] && echo KILL || echo TERM)
        echo "outage $outage of $outages with --leader-elect=$election: SIG$signal, $seconds s" >&2
        kill -s "$signal" "$(pid apiserver)"
        wait "$(pid apiserver)" 2>/dev/null || true
        rm -f "$dir/apiserver.pid"
        sleep "$seconds"
        begin=$(now)
        start_audited_apiserver
        ready=$(now)
        create_pods "outage-$election-$outage"
        wait_for_bindings "outage-$election-$outage"
        sleep 10
        measure "outage-$election-$outage" "$election" "$begin" "$ready"
    done
    stop_schedulers
done

jq -rs --arg schedulers "$schedulers" '
    def of($scheduler; $election): map(select(.scheduler == $scheduler and .election == $election));
    def span: if min == max then "\(min)" else "\(min) to \(max)" end;
    def row: "| " + join(" | ") + " |";
    ($schedulers / " ") as $columns | . as $all
    | ([""] + ($columns | map(if . == "kube" then "kube-scheduler" else . end)) | row),
      (["---"] + ($columns | map("---")) | "|" + join("|") + "|"),
      (("false", "true") as $election
        | ["first binding with `--leader-elect=\($election)`, s"]
          + [$columns[] as $name | $all | of($name; $election) | map(.binding | if . then . * 100 | round / 100 | tostring else "none" end) | join(", ")]
        | row),
      (["requests from the start of the server to 10 seconds after `ok`, without and with leader election"]
          + [$columns[] as $name | ["false", "true"] | map(. as $election | $all | of($name; $election) | map(.requests) | span) | join(", ")]
        | row),
      (["maximum of requests in one second"] + [$columns[] as $name | $all | map(select(.scheduler == $name).most) | span] | row)
' "$results"
