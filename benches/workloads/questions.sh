#!/bin/sh
# Measures the questions about pending pods at 100, 1,000 and 5,000 nodes, and writes the table into docs/questions.md:
# benches/workloads/questions.sh [BINARY]
# Each node has two pods, so 5,000 nodes have 10,000 pods. Times are those of the whole command: it reads the manifests, answers and prints.
# SIZES="100 1000" measures other sizes, PRINT=1 prints the rows and leaves the page as it is.
set -eu
cd "$(dirname "$0")/../.."
. benches/workloads/fill.sh
binary=${1:-target/dist/schedc}
case $binary in /*) ;; *) binary=$PWD/$binary ;; esac
sizes=${SIZES:-100 1000 5000}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Writes a cluster with this number of nodes: three zones, nodes of 8 CPUs with two pods of a ReplicaSet each, a budget for each
# ReplicaSet, and three pending pods. `large` is too large for every node, no node matches `nowhere`, and `small` fits.
cluster() {
    awk -v nodes="$1" 'BEGIN {
        for (i = 0; i < nodes; i++) {
            taint = i % 10 == 9 ? "{\"taints\":[{\"key\":\"team\",\"value\":\"t" i % 7 "\",\"effect\":\"NoSchedule\"}]}" : "{}"
            printf "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"node-%d\",\"labels\":{\"kubernetes.io/hostname\":\"node-%d\",\"topology.kubernetes.io/zone\":\"zone-%d\"}},\"spec\":%s,\"status\":{\"allocatable\":{\"cpu\":\"8\",\"memory\":\"32Gi\",\"pods\":\"110\",\"example.com/gpu\":\"%d\"}}}\n", i, i, i % 3, taint, i % 20 == 0 ? 4 : 0
            for (j = 0; j < 2; j++) {
                set = int((2 * i + j) / 20)
                cpu = (i * 7 + j * 3) % 4 + 1
                printf "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-%d-%d\",\"namespace\":\"shop\",\"labels\":{\"app\":\"web-%d\"},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"web-%d\",\"uid\":\"web-%d\",\"controller\":true}]},\"spec\":{\"nodeName\":\"node-%d\",\"tolerations\":[{\"key\":\"team\",\"operator\":\"Exists\"}],\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"%d\",\"memory\":\"%dGi\"%s}}}]}}\n", i, j, set, set, set, i, cpu, cpu, i % 20 == 0 ? ",\"example.com/gpu\":\"1\"" : ""
            }
        }
        sets = int((2 * nodes + 19) / 20)
        for (s = 0; s < sets; s++) {
            printf "{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"metadata\":{\"name\":\"web-%d\",\"namespace\":\"shop\",\"uid\":\"web-%d\"},\"spec\":{\"replicas\":20,\"selector\":{\"matchLabels\":{\"app\":\"web-%d\"}}}}\n", s, s, s
            printf "{\"apiVersion\":\"policy/v1\",\"kind\":\"PodDisruptionBudget\",\"metadata\":{\"name\":\"web-%d\",\"namespace\":\"shop\"},\"spec\":{\"maxUnavailable\":2,\"selector\":{\"matchLabels\":{\"app\":\"web-%d\"}}}}\n", s, s
        }
        pod("large", "\"cpu\":\"9\"", "{}")
        pod("nowhere", "\"cpu\":\"1\"", "{\"disk\":\"nvme\",\"topology.kubernetes.io/zone\":\"zone-9\"}")
        pod("small", "\"cpu\":\"100m\"", "{}")
    }
    function pod(name, requests, selector) {
        printf "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"namespace\":\"shop\"},\"spec\":{\"nodeSelector\":%s,\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":{%s}}}]}}\n", name, selector, requests
    }'
}

cat >"$folder/new.yaml" <<'POD'
apiVersion: v1
kind: Pod
metadata: {name: new, namespace: shop}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 100m, memory: 64Mi}}}]}
POD
cat >"$folder/large.yaml" <<'POD'
apiVersion: v1
kind: Pod
metadata: {name: large-new, namespace: shop}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 7}}}]}
POD

cat >"$folder/many.yaml" <<'DEPLOYMENT'
apiVersion: apps/v1
kind: Deployment
metadata: {name: many, namespace: shop}
spec:
  replicas: 200
  selector: {matchLabels: {app: many}}
  template:
    metadata: {labels: {app: many}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 7}}}]}
DEPLOYMENT
cat >"$folder/shapes.yaml" <<'NODES'
{apiVersion: v1, kind: Node, metadata: {name: small, annotations: {schedc/price: '9'}}, status: {allocatable: {cpu: 8, memory: 32Gi, pods: 110}}}
---
{apiVersion: v1, kind: Node, metadata: {name: large, annotations: {schedc/price: '16'}}, status: {allocatable: {cpu: 16, memory: 64Gi, pods: 110}}}
NODES

# Prints the seconds of a command with one decimal. Exit code 1 is an answer, such as a pod that waits.
seconds() {
    begin=$(date +%s%N)
    code=0
    "$binary" "$@" >"$folder/out" 2>"$folder/error" || code=$?
    end=$(date +%s%N)
    if [ "$code" -gt 1 ]; then
        cat "$folder/error" >&2
        exit 1
    fi
    awk -v nanoseconds="$((end - begin))" 'BEGIN { printf "%.1f", nanoseconds / 1e9 }'
}

for nodes in $sizes; do cluster "$nodes" >"$folder/$nodes.jsonl"; done
pods=10000
row() { # the question, and the command without the file of the cluster
    printf '| %s |' "$1"
    shift
    for nodes in $sizes; do
        # An assignment, so that an error ends the script.
        time=$(seconds "$@" "$folder/$nodes.jsonl")
        printf ' %s |' "$time"
    done
    echo
}

{
    printf '| question |'
    for nodes in $sizes; do printf ' %s nodes |' "$nodes"; done
    printf '\n|---|'
    for nodes in $sizes; do printf -- '--:|'; done
    echo
    row 'read the cluster and place a pod (`simulate`)' simulate
    row 'why a pod waits, without remedies' explain large --max-remedies 0
    row 'remedies for a pod that is too large' explain large
    row 'remedies for a pod without a suitable node' explain nowhere
    row 'would a pod run (`check -f`)' check -f "$folder/new.yaml"
    row 'capacity for 10,000 more pods' capacity -f "$folder/new.yaml" --max "$pods"
    row 'new nodes for 200 large pods (`provision`, 20 sets)' provision -f "$folder/many.yaml" --shapes "$folder/shapes.yaml" --max-trials 20
    row 'empty a node (`drain`)' drain node-1
    row 'room for a large pod (`defragment --for`)' defragment --for "$folder/large.yaml"
    row 'empty most nodes (`defragment`)' defragment
} >"$folder/table"
if [ -n "${PRINT:-}" ]; then
    cat "$folder/table"
else
    fill questions "times of questions" "$folder/table"
fi
