#!/bin/sh
# Lists the calls of the loops over nodes in a release binary: benches/indirect_calls.sh [BINARY]
# Fails if one of them goes through a register or through memory other than the binary's own table of fixed addresses.
set -eu
binary=${1:-target/release/schedc}
objdump --disassemble --demangle --no-show-raw-insn "$binary" | awk '
    /^[0-9a-f]+ <.*>:$/ { inside = /schedc_core::passes::(filter|score|total)/; loops += inside; before = ""; next }
    !inside { next }
    # A slot at a fixed distance is filled once by the loader: such a call has a single target.
    /\tcall +\*.*\(%rip\)/ { fixed++; next }
    /\tcall +\*/ { indirect++; print }
    # A jump table stays in its function. After the stack is taken down it would be a call.
    /\tjmp +\*/ { if (before ~ /\t(pop|leave|add .*,%rsp)/) { indirect++; print } else tables++ }
    /\tcall +[0-9a-f]/ { direct++ }
    { before = $0 }
    END {
        printf "%d loops: %d indirect calls; %d direct calls, %d calls of fixed addresses, %d jumps by table\n",
            loops, indirect, direct, fixed, tables
        exit indirect > 0 || loops == 0
    }'
