#!/bin/sh
# Records a real API server with kube-scheduler in charge, replays the recording twice, and writes the table into docs/record.md:
#
#     KUBE_APISERVER=kube-apiserver ETCD=etcd KUBE_SCHEDULER=kube-scheduler benches/workloads/live.sh
#
# KUBE_APISERVER, ETCD, KUBE_SCHEDULER  programs (paths are relative to the repository); default: those of PATH
# SCHEDC                program with the profile `default` and the features `run` and `recordings`; default: target/dist/schedc
# REPLAY                program for the replay; default: SCHEDC
# NODES=1000 PODS=5000  numbers of objects
# WAITING               pods are created while at most this number are in the active queue of kube-scheduler; default: 30
# SECONDS_LIMIT         no pods are created after this time; default: 840
# PORT                  port of the API server; etcd uses PORT + 1 and PORT + 2, kube-scheduler PORT + 3; default: 27443
# KEEP                  new folder for logs and the recording; default: a temporary one
# PRINT=1               prints the table and leaves the page as it is
#
# openssl, curl and jq are required. live.jq defines the objects. Between batches of pods, pods are deleted, and nodes are added, removed,
# relabelled, tainted and cordoned. There is no kubelet: the script removes evicted pods.
set -eu
cd "$(dirname "$0")/../.."
. benches/workloads/fill.sh
. benches/workloads/folder.sh
. benches/workloads/apiserver.sh
apiserver=$(program KUBE_APISERVER "${KUBE_APISERVER:-kube-apiserver}" "a kube-apiserver program")
etcd=$(program ETCD "${ETCD:-etcd}" "an etcd program")
scheduler=$(program KUBE_SCHEDULER "${KUBE_SCHEDULER:-kube-scheduler}" "a kube-scheduler program")
schedc=$(program SCHEDC "${SCHEDC:-target/dist/schedc}" "a schedc program with the features run and recordings")
replay=$(program REPLAY "${REPLAY:-$schedc}" "a schedc program")
nodes=${NODES:-1000} pods=${PODS:-5000} waiting=${WAITING:-30} limit=${SECONDS_LIMIT:-840} port=${PORT:-27443}
new_folder

certificates admin /O=system:masters/CN=admin
scheduler_config 2000 '{ "percentageOfNodesToScore": 100 }'

objects() { jq -nc --arg what "$1" --argjson from "$2" --argjson count "$3" -f benches/workloads/live.jq; }
queue() { # the number of pods in a queue of kube-scheduler
    request "$((port + 3))/metrics" | sed -n "s/^scheduler_pending_pods{queue=\"$1\"} //p"
}
has_at_most() { # QUEUE NUMBER
    [ "$(queue "$1")" -le "$2" ]
}

start_etcd --unsafe-no-fsync
start_apiserver
until_success 60 0.5 request "$port/api/v1/namespaces/default" || fails "there is no namespace default"

begin=$(date +%s)
objects first 0 0 | send
objects nodes 0 "$nodes" | send
start recorder "$schedc" record "$dir/recording" --kubeconfig "$dir/admin.kubeconfig"
until_success 60 0.2 grep -q "all objects are recorded" "$dir/recorder.log" || fails "the recorder has not started"
start scheduler "$scheduler" --config "$dir/config.json" --bind-address=127.0.0.1 --secure-port=$((port + 3)) --tls-cert-file="$dir/server.crt" \
    --tls-private-key-file="$dir/server.key" --authorization-always-allow-paths=/metrics,/healthz
until_success 120 0.5 has_at_most active 0 || fails "kube-scheduler is not ready"

# Changes between batches: churn BATCH CREATED
churn() {
    {
        jq -nc --argjson batch "$1" --argjson created "$2" --argjson nodes "$nodes" '
            def pod($n): "/api/v1/namespaces/default/pods/pod-\($n)";
            def node($n): "/api/v1/nodes/node-\($n)";
            def patch($path; $body): { method: "PATCH", $path, $body };
            ($batch * 7 % $nodes) as $n
            | (range(4) | ($batch * 131 + . * 977) % $created
                | { method: "DELETE", path: pod(.), body: { gracePeriodSeconds: 0 } }),
              patch(node($n); { metadata: { labels: { disk: (if $batch % 2 == 0 then "ssd" else "hdd" end) } } }),
              patch(node($n + 1); { spec: { unschedulable: ($batch % 3 == 0) } }),
              patch(node(($n + 2) % $nodes); { spec: { taints: (if $batch % 2 == 0
                  then [{ key: "maintenance", effect: "NoSchedule" }] else null end) } }),
              patch(pod($created - 1 - $batch % 10); { metadata: { labels: { released: "yes" } } }),
              if $batch % 4 == 0 then { method: "DELETE", path: node(($n + 500) % $nodes) } else empty end'
        [ $(($1 % 4)) != 0 ] || objects nodes $((nodes + $1)) 1
        # Ends evicted pods, as a kubelet would.
        request "$port/api/v1/namespaces/default/pods?labelSelector=sort%3D11&resourceVersion=0" | jq -c '.items[]
            | select(.metadata.deletionTimestamp)
            | { method: "DELETE", path: "/api/v1/namespaces/default/pods/\(.metadata.name)", body: { gracePeriodSeconds: 0 } }'
    } | send
}
created=0 batch=0 size=25
while [ "$created" -lt "$pods" ] && [ $(($(date +%s) - begin)) -lt "$limit" ]; do
    until_success 60 0.1 has_at_most active "$waiting" || fails "kube-scheduler is too slow"
    objects needs "$created" "$size" | send
    objects pods "$created" "$size" | send
    created=$((created + size)) batch=$((batch + 1))
    churn "$batch" "$created"
    [ $((batch % 20)) != 0 ] || echo "$created pods in $(($(date +%s) - begin)) s" >&2
done
until_success 60 1 has_at_most active 0 || true
churn $((batch + 1)) "$created"
sleep 15
kill "$(pid recorder)"
wait "$(pid recorder)" || fails "the recorder failed"
rm -f "$dir/recorder.pid"
end=$(date +%s)
attempts=$(request "$((port + 3))/metrics" | sed -n 's/^scheduler_schedule_attempts_total{profile="default-scheduler",result="\([a-z]*\)"} /\1 /p' | paste -sd ' ')
echo "$created pods in $((end - begin)) s; attempts of kube-scheduler: $attempts" >&2
kill_programs

for number in 1 2; do
    "$replay" replay "$dir/recording" -o json >"$dir/replay-$number.json"
    "$replay" replay "$dir/recording" --all >"$dir/replay-$number.txt"
done
bytes="identical bytes"
cmp -s "$dir/replay-1.json" "$dir/replay-2.json" && cmp -s "$dir/replay-1.txt" "$dir/replay-2.txt" || bytes="different bytes"
size=$(find "$dir/recording" -type f -exec cat {} + | wc -c)
jq -r --arg bytes "$bytes" --argjson size "$size" --argjson created "$created" --argjson nodes "$nodes" --argjson seconds "$((end - begin))" '
    def explained($results): [.disagreements[] | select(.result == $results) | .agreesBefore != null or .agreesAfter != null]
        | "\(length), \(map(select(.)) | length) of them explained";
    def thousands: tostring | if length > 3 then (.[:-3] | thousands) + "," + .[-3:] else . end;
    .agreement[0] as $counts | . as $all
    | ["", ""], ["---", "---"],
      ["nodes; pods; time", "\($nodes | thousands); \($created | thousands); \($seconds) s"],
      ["decisions", ([$counts | .sameBest, .lowerScore, .infeasible, .sameMessage, .otherMessage, .fits] | add | thousands)],
      ["bound to one of the best nodes", "\($counts.sameBest | thousands), \($all.ties | thousands) of them among several"],
      ["bound to a node with a lower total", explained("lowerScore")],
      ["bound to an infeasible node", explained("infeasible")],
      ["unschedulable, the same message", ($counts.sameMessage | thousands)],
      ["unschedulable, another message", explained("otherMessage")],
      ["unschedulable, but a node is feasible", explained("fits")],
      ["disagreements", "\($all.disagreements | length): \($all.explained) explained by another order, \($all.unexplained) not explained"],
      ["not compared", "\($counts.notJudged)"],
      ["replayed twice", $bytes],
      ["size of the recording, nodes included", "\($size / 1000 | round | thousands) kB"]
    | "| " + join(" | ") + " |"' "$dir/replay-1.json" | sed '2s/.*/|---|---|/' >"$dir/table.md"
if [ "${PRINT:-}" = 1 ]; then cat "$dir/table.md"; else fill record "recording of a real API server" "$dir/table.md"; fi
