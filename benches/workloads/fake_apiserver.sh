# Sourced by the scripts that run programs with the fake API server of the tests, the program $server. curl and jq are required.
#
# Sets `folder`, a temporary folder. `stop`, and the end of the script, kill the processes in `pids`.
for tool in curl jq; do command -v "$tool" >/dev/null || { echo "install $tool" >&2; exit 1; }; done
[ -x "$server" ] || { echo "there is no $server: cargo build --release -p schedc-fake-apiserver --example serve" >&2; exit 1; }
folder=$(mktemp -d)
pids=
stop() {
    for pid in $pids; do kill "$pid" 2>/dev/null || true; done
    wait
    pids=
}
trap 'stop; rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM

# Starts a server with these flags. Sets `url`, and writes the kubeconfig $folder/config.
serve() {
    rm -f "$folder/config"
    "$server" "$@" >"$folder/config" &
    pids="$pids $!"
    while [ ! -s "$folder/config" ]; do sleep 0.1; done
    url=$(jq -r '.clusters[0].cluster.server' "$folder/config")
}

# Functions for awk: `node(i)` returns a node, `request(url, type, body)` prints a request for `curl -K`.
awk_functions='
    function node(i) {
        return "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"node-" i "\",\"labels\":{\"kubernetes.io/hostname\":\"node-" i "\",\"topology.kubernetes.io/zone\":\"zone-" i % 3 "\"}},\"status\":{\"allocatable\":{\"cpu\":\"16\",\"memory\":\"64Gi\",\"pods\":\"110\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"
    }
    function request(url, type, body) {
        if (requests++) print "next"
        print "silent\nfail\ninsecure\nurl = \"" url "\"\noutput = \"/dev/null\""
        if (body != "") {
            gsub(/"/, "\\\"", body)
            print "header = \"Content-Type: " type "\"\ndata = \"" body "\""
        }
    }
'
