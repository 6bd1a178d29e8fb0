#!/bin/sh
# Searches the loops over nodes, and all functions that they call except panics, for indirect calls. The program must
# have symbols (`--profile profiling`):
# benches/indirect_calls.sh [BINARY]
set -eu
binary=${1:-target/profiling/schedc}
objdump --disassemble --demangle --no-show-raw-insn "$binary" | awk '
    /^[0-9a-f]+ <.*>:$/ {
        at = $1; sub(/^0+/, "", at)
        name[at] = $0; before = ""
        if (/schedc_core::engine::node_loops::(filter|score|total)/) { queue[++last] = at; seen[at] = 1; loops++ }
        next
    }
    # A call through a slot of the global offset table, at a fixed distance, has a single target, because the loader
    # fills the slot once. That is also true if the slot was read into a register before a loop.
    /\t(call|jmp) +\*.*\(%rip\)/ { fixed[at]++; before = $0; next }
    /\tcall +\*%r[a-z0-9]+$/ && (at, substr($NF, 2)) in slot { fixed[at]++; before = $0; next }
    /,%r[a-z0-9]+( |$)/ && !/\t(cmp|test)/ {
        match($0, /,%r[a-z0-9]+( |$)/)
        register = substr($0, RSTART + 1, RLENGTH - 1); sub(/ $/, "", register)
        if (/\tmov +.*\(%rip\),%.*<_DYNAMIC/) slot[at, register]; else delete slot[at, register]
    }
    # An indirect jump directly after the removal of the stack frame is a tail call. All others are jump tables, which
    # stay in their function.
    /\tcall +\*/ || (/\tjmp +\*/ && before ~ /\t(pop|leave|add .*,%rsp)/) { indirect[at] = indirect[at] $0 "\n" }
    /\tjmp +\*/ && before !~ /\t(pop|leave|add .*,%rsp)/ { tables[at]++ }
    /\t(call|jmp) +[0-9a-f]+ <[^+]*>$/ { callees[at] = callees[at] " " $3 }
    { before = $0 }
    END {
        for (next_one = 1; next_one <= last; next_one++) {
            at = queue[next_one]
            functions++; all_fixed += fixed[at]; all_tables += tables[at]
            if (at in indirect) { bad++; printf "%s\n%s", name[at], indirect[at] }
            count = split(callees[at], targets, " ")
            for (i = 1; i <= count; i++) {
                to = targets[i]
                if (to in name && !(to in seen) && name[to] !~ /core::panicking|core::slice::index|unwrap_failed/) {
                    seen[to] = 1; queue[++last] = to
                }
            }
        }
        printf "%d loops, %d functions including the called ones; functions with indirect calls: %d; not counted: %d calls of fixed addresses, %d jumps by table\n",
            loops, functions, bad, all_fixed, all_tables
        exit bad > 0 || loops == 0
    }'
