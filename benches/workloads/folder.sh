# Sourced by the scripts that start programs and keep their files in a folder.

# Prints the path of a program: program VARIABLE VALUE NAME
program() { command -v "$2" || { echo "set $1 to $3" >&2; exit 1; }; }

# Sets $dir to the folder KEEP, which must be new or empty, or to a temporary one. At the exit of the script, `stop` runs.
new_folder() {
    dir=${KEEP:-$(mktemp -d)}
    mkdir -p "$dir"
    dir=$(cd "$dir" && pwd)
    [ -z "$(ls -A "$dir")" ] || { echo "$dir is not empty: set KEEP to a new folder" >&2; exit 1; }
    trap stop EXIT
    trap 'exit 1' INT TERM
}
# Kills started programs, and removes the folder. Scripts may replace it.
stop() {
    kill_programs
    remove_folder
}
# Removes the folder, unless KEEP is set.
remove_folder() { [ -n "${KEEP:-}" ] || rm -rf "$dir"; }

fails() { echo "$1; see $dir (set KEEP to keep it)" >&2; exit 1; }

# Waits until a command succeeds: until_success SECONDS INTERVAL COMMAND
until_success() {
    end=$(($(date +%s) + $1)) interval=$2; shift 2
    until "$@" >/dev/null 2>&1; do
        [ "$(date +%s)" -lt "$end" ] || return 1
        sleep "$interval"
    done
}

# Starts a program, whose output goes to $dir/NAME.log: start NAME COMMAND
start() {
    name=$1; shift
    "$@" >>"$dir/$name.log" 2>&1 &
    echo $! >"$dir/$name.pid"
}
# Prints the process id of a started program: pid NAME
pid() { cat "$dir/$1.pid" 2>/dev/null; }
# Kills started programs, all by default: kill_programs [NAME]...
kill_programs() {
    [ $# != 0 ] || set -- $(cd "$dir" && ls -- *.pid 2>/dev/null | sed 's/\.pid$//')
    for name; do
        kill -9 "$(pid "$name")" 2>/dev/null || true
        wait "$(pid "$name")" 2>/dev/null || true
        rm -f "$dir/$name.pid"
    done
}
