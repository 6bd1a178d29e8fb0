#!/bin/sh
# Measures the libraries and `schedc serve`, and writes the table into docs/libraries.md: benches/workloads/libraries.sh [BINARY]
#
# Every program has nodes with five pods each, and a pod that fits on all nodes. It prints a line for each operation, with the microseconds
# that the operation takes once. `check` is one call for one node; `check-nodes` is a call for all nodes, divided by their number; `fork`
# includes scheduling the pod and reverting; `decide` returns the verdicts and the scores of all nodes. For `threads`, the checks are divided
# among threads with a cluster each; the total time is divided by the number of all checks.
#
# NODES=100 CHECKS=1000 FORKS=10 DECISIONS=2 THREADS=2 are other sizes; PRINT=1 prints the rows and leaves the page as it is. GO, NODE,
# PYTHON and CC name programs; the rows of those that are missing are left out with a message.
set -eu
cd "$(dirname "$0")/../.."
. benches/workloads/fill.sh
export NODES="${NODES:-5000}" CHECKS="${CHECKS:-1000000}" FORKS="${FORKS:-10000}" DECISIONS="${DECISIONS:-100}" THREADS="${THREADS:-10}"
binary=${1:-target/dist/schedc}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
target=${CARGO_TARGET_DIR:-target}
case $target in /*) ;; *) target=$PWD/$target ;; esac

cargo build --quiet --release --locked -p schedc-c
OBJECTS="$folder/objects.jsonl" cargo bench --quiet --locked -p schedc-api --bench questions >"$folder/rows"

# Runs a program, and adds its rows, if the command in the first argument exists.
measure() { # COMMAND PROGRAM [ARGUMENT...]
    if command -v "$1" >/dev/null; then
        shift
        "$@" "$folder/objects.jsonl" >>"$folder/rows"
    else
        echo "skipped: $1 is not installed" >&2
    fi
}

compiler=${CC:-cc}
if command -v "$compiler" >/dev/null; then
    "$compiler" -O2 -I bindings/c/include benches/libraries/questions.c "$target/release/libschedc_c.a" -lpthread -ldl -lm -o "$folder/c"
    measure "$folder/c" "$folder/c"
fi
export CGO_LDFLAGS="-L$target/release" GOTOOLCHAIN=local CGO_ENABLED=1
go=${GO:-go}
if command -v "$go" >/dev/null; then
    (cd benches/libraries/go && "$go" build -o "$folder/go" .)
fi
measure "$go" "$folder/go"
python=${PYTHON:-python3}
if command -v "$python" >/dev/null; then
    "$python" -m venv "$folder/venv"
    "$folder/venv/bin/pip" install --quiet --disable-pip-version-check ./bindings/python
fi
measure "$python" "$folder/venv/bin/python" benches/libraries/questions.py
node=${NODE:-node}
if command -v "$node" >/dev/null; then
    "$node" bindings/wasm/build.mjs >/dev/null
fi
measure "$node" "$node" benches/libraries/questions.mjs
if [ -x "$binary" ]; then
    measure "${PYTHON:-python3}" "${PYTHON:-python3}" benches/libraries/serve.py "$binary"
else
    echo "skipped: there is no $binary" >&2
fi

awk -F '\t' '
    { if (!($1 in row)) { order[++rows] = $1; row[$1] = "" } time[$1, $2] = $3 }
    function cell(micros) {
        if (micros == "") return "-"
        if (micros >= 1000) return sprintf("%.1f ms", micros / 1000)
        return micros >= 100 ? sprintf("%.0f µs", micros) : sprintf("%.2f µs", micros)
    }
    END {
        print "| library | `check` | `check-nodes`, per node | fork, schedule, revert | `decide` | `check` in " ENVIRON["THREADS"] " threads |"
        print "|---|--:|--:|--:|--:|--:|"
        for (at = 1; at <= rows; at++) {
            name = order[at]
            printf "| %s | %s | %s | %s | %s | %s |\n", name, cell(time[name, "check"]), cell(time[name, "check-nodes"]), \
                cell(time[name, "fork"]), cell(time[name, "decide"]), cell(time[name, "threads"])
        }
    }
' "$folder/rows" >"$folder/table"
if [ -n "${PRINT:-}" ]; then
    cat "$folder/table"
else
    fill libraries "times of libraries" "$folder/table"
fi
