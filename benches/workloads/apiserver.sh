# Sourced after folder.sh by the scripts that run a real API server. curl, jq and openssl are required.
#
# $apiserver, $etcd: programs; $port: port of the API server; etcd uses the next two ports

# Creates in $dir a certification authority, a certificate `server` with its public key, and a client certificate and a kubeconfig for each NAME:
# certificates [NAME SUBJECT]...
certificates() {
    echo "subjectAltName=IP:127.0.0.1" >"$dir/extensions"
    {
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=ca -keyout "$dir/ca.key" -out "$dir/ca.crt"
        set -- server /CN=server "$@"
        while [ $# -gt 0 ]; do
            openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "$2" -keyout "$dir/$1.key" -out "$dir/$1.csr"
            openssl x509 -req -in "$dir/$1.csr" -CA "$dir/ca.crt" -CAkey "$dir/ca.key" -CAcreateserial -days 2 -extfile "$dir/extensions" -out "$dir/$1.crt"
            kubeconfig "$1"
            shift 2
        done
        openssl pkey -in "$dir/server.key" -pubout -out "$dir/server.pub"
    } 2>"$dir/openssl.log"
}
kubeconfig() { # NAME
    jq -n --arg name "$1" --arg dir "$dir" --arg server "https://127.0.0.1:$port" '{
        apiVersion: "v1", kind: "Config", "current-context": $name,
        contexts: [{ $name, context: { cluster: $name, user: $name } }],
        clusters: [{ $name, cluster: { $server, "certificate-authority": "\($dir)/ca.crt" } }],
        users: [{ $name, user: { "client-certificate": "\($dir)/\($name).crt", "client-key": "\($dir)/\($name).key" } }]
    }' >"$dir/$1.kubeconfig"
}

# Writes kube-scheduler's configuration, with the kubeconfig `admin`, to $dir/config.json: scheduler_config REQUESTS_PER_SECOND FIELDS
scheduler_config() {
    jq -n --arg kubeconfig "$dir/admin.kubeconfig" --argjson qps "$1" --argjson fields "$2" '{
        apiVersion: "kubescheduler.config.k8s.io/v1", kind: "KubeSchedulerConfiguration", leaderElection: { leaderElect: false },
        clientConnection: { $kubeconfig, $qps, burst: (2 * $qps) }
    } + $fields' >"$dir/config.json"
}

# Requests a path of a local port, with the certificate `admin`: request PORT/PATH [CURL'S ARGUMENTS]
request() {
    url=https://127.0.0.1:$1; shift
    curl -sS --fail-with-body --max-time 60 --cacert "$dir/ca.crt" --cert "$dir/admin.crt" --key "$dir/admin.key" "$url" "$@"
}
# Sends objects and requests, read as lines of JSON, over one connection. Failures are ignored, because requests for objects that no longer
# exist fail.
send() {
    jq -r --arg dir "$dir" --arg port "$port" -f benches/workloads/requests.jq >"$dir/requests"
    sed 1d "$dir/requests" | curl -K - >>"$dir/requests.log" 2>&1 || true
}

start_etcd() { # [FLAGS]
    start etcd "$etcd" --data-dir "$dir/etcd" --listen-client-urls "http://127.0.0.1:$((port + 1))" \
        --advertise-client-urls "http://127.0.0.1:$((port + 1))" --listen-peer-urls "http://127.0.0.1:$((port + 2))" \
        --initial-advertise-peer-urls "http://127.0.0.1:$((port + 2))" --initial-cluster "default=http://127.0.0.1:$((port + 2))" "$@"
    until_success 60 0.1 curl -sSf "http://127.0.0.1:$((port + 1))/health" || fails "etcd is not ready"
}
start_apiserver() { # [FLAGS]
    start apiserver "$apiserver" --etcd-servers="http://127.0.0.1:$((port + 1))" --bind-address=127.0.0.1 --secure-port="$port" \
        --tls-cert-file="$dir/server.crt" --tls-private-key-file="$dir/server.key" --client-ca-file="$dir/ca.crt" \
        --authorization-mode=RBAC --service-cluster-ip-range=10.0.0.0/24 --endpoint-reconciler-type=none \
        --service-account-issuer=benches --service-account-key-file="$dir/server.pub" --service-account-signing-key-file="$dir/server.key" \
        --disable-admission-plugins=ServiceAccount,TaintNodesByCondition "$@"
    until_success 180 0.01 request "$port/readyz" || fails "kube-apiserver is not ready"
}
