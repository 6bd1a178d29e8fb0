#!/usr/bin/env bash
# Measures builds of a new scheduler, and prints the table of docs/tutorial.md, "4. Change it":
#
#     SCHEDC=target/debug/schedc benches/workloads/scaffold.sh > times.md
#
# SCHEDC   program with `schedc new`; default: that of PATH
# SOURCES  checkout of schedc that the scheduler depends on; default: this one
# EDITS    edits of the plugin for each row; the table has the median, the minimum and the maximum. Default: 3
# STEPS    rows to measure: any of `cold`, `edit` and `release`; default: all of them
# FOLDER   folder for the scheduler and its target folder; default: a temporary one. With a folder of an earlier run, `edit` and
#          `release` do not build from the beginning
#
# The CPU time is that of cargo and all compilers, user and system. Other load on the machine changes it little, but changes the wall time.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
schedc=$(command -v "${SCHEDC:-schedc}") || { echo "error: no program \`${SCHEDC:-schedc}\`; set SCHEDC" >&2; exit 1; }
schedc=$(realpath "$schedc")
edits=${EDITS:-3} steps=${STEPS:-cold edit release} folder=${FOLDER:-$(mktemp -d)}
mkdir -p "$folder"
[ -n "${FOLDER:-}" ] || trap 'rm -rf "$folder"' EXIT
cd "$folder"
[ -d my-filter ] || "$schedc" new my-filter --with filter --path "${SOURCES:-$root}" >/dev/null
cd my-filter
export CARGO_TARGET_DIR=$folder/target
unset CARGO_INCREMENTAL
TIMEFORMAT='%R %U %S'

# Runs a command, and prints its wall and CPU seconds.
measure() {
    local times
    times=$({ time "$@" >"$folder/output" 2>&1 || echo failed; } 2>&1)
    case $times in *failed*) cat "$folder/output" >&2; echo "error: $* failed" >&2; exit 1 ;; esac
    awk '{ print $1, $2 + $3 }' <<<"$times"
}
# Prints "MEDIAN s (MIN to MAX)" of a column of the measurements in a text.
summary() { # COLUMN TEXT
    awk -v column="$1" '{ print $column }' <<<"$2" | sort -g |
        awk '{ value[NR] = $1 } END { median = value[int((NR + 1) / 2)]
            if (NR == 1) printf "%.1f s", median; else printf "%.1f s (%.1f to %.1f)", median, value[1], value[NR] }'
}
row() { # NAME MEASUREMENTS
    printf '| %s | %s | %s |\n' "$1" "$(summary 1 "$2")" "$(summary 2 "$2")"
}
# Prints the row of one measurement. `times` is assigned first, because the exit status of a substitution in an argument is lost.
once() { # NAME COMMAND
    local name=$1 times; shift
    times=$(measure "$@")
    row "$name" "$times"
}
number=0
# Changes the generation that the plugin assumes for nodes without the label. No test depends on it.
edit() {
    number=$((number + 1))
    sed -i "s/unwrap_or([-0-9]*) >= pod/unwrap_or(-$number) >= pod/" src/minimum_generation.rs
    grep -q "unwrap_or(-$number) >= pod" src/minimum_generation.rs || { echo "error: the plugin of \`schedc new\` changed; change \`edit\`" >&2; exit 1; }
}
after_edits() { # NAME COMMAND
    local name=$1 times="" i; shift
    for i in $(seq "$edits"); do
        edit
        times+=$(measure "$@")$'\n'
    done
    row "$name" "${times%$'\n'}"
}

cp src/minimum_generation.rs "$folder/original.rs"
printf '| command | time | CPU time |\n|---|---|---|\n'
for step in $steps; do
    case $step in
    cold)
        once "first \`cargo run -- simulate cluster/\`" cargo run -- simulate cluster/
        once "first \`cargo test\`, after that" cargo test
        ;;
    edit)
        # The first build, before any edit, is not measured.
        measure cargo run -- simulate cluster/ >/dev/null
        after_edits "\`cargo run -- simulate cluster/\` after an edit" cargo run -- simulate cluster/
        measure cargo test >/dev/null
        after_edits "\`cargo test\` after an edit, contracts included" cargo test
        ;;
    release)
        once "first \`cargo run --release -- simulate cluster/\`" cargo run --release -- simulate cluster/
        after_edits "\`cargo run --release -- simulate cluster/\` after an edit" cargo run --release -- simulate cluster/
        ;;
    *) echo "error: no step \`$step\`: use cold, edit and release" >&2; exit 1 ;;
    esac
    cp "$folder/original.rs" src/minimum_generation.rs
done
