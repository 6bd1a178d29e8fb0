# Sourced by the scripts that run a real API server. openssl is required.

# Creates in $dir a certification authority, a certificate `server` with its public key, and a client certificate for each NAME:
# certificates [NAME SUBJECT]...
certificates() {
    echo "subjectAltName=IP:127.0.0.1" >"$dir/extensions"
    {
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=ca -keyout "$dir/ca.key" -out "$dir/ca.crt"
        set -- server /CN=server "$@"
        while [ $# -gt 0 ]; do
            openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "$2" -keyout "$dir/$1.key" -out "$dir/$1.csr"
            openssl x509 -req -in "$dir/$1.csr" -CA "$dir/ca.crt" -CAkey "$dir/ca.key" -CAcreateserial -days 2 -extfile "$dir/extensions" -out "$dir/$1.crt"
            shift 2
        done
        openssl pkey -in "$dir/server.key" -pubout -out "$dir/server.pub"
    } 2>"$dir/openssl.log"
}
