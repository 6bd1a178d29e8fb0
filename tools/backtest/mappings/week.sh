#!/usr/bin/env bash
# Writes a synthetic trace into the folder that the first argument names: a week with 10,000 pods per day on 1,000 nodes.
# To simulate it: time schedc backtest default --on FOLDER --trace-mapping FOLDER/week.toml --seeds 1
set -euo pipefail
folder=${1:?usage: week.sh FOLDER}
mkdir -p "$folder"
awk 'BEGIN {
    srand(1)
    print "name,cpu,memory,class,created,ended"
    for (pod = 0; pod < 70000; pod++) {
        # A daily wave: more pods arrive in the afternoon.
        do { created = rand() * 604800 } while (rand() > 0.6 + 0.4 * sin(created * 6.2831853 / 86400))
        # Most pods run for minutes, a tenth for up to three days.
        seconds = rand() < 0.9 ? 60 + rand() * 7200 : 3600 + rand() * 259200
        split("250 500 1000 2000 4000", sizes, " ")
        size = sizes[1 + int(rand() * 5)]
        printf "pod-%d,%d,%d,%s,%.3f,%.3f\n", pod, size, size * 4, rand() < 0.1 ? "high" : "low", created, created + seconds
    }
}' > "$folder/week.csv"
cat > "$folder/week.toml" <<'TOML'
[[nodes]]
count = 1000
name = "node-{index}"
labels = { "topology.kubernetes.io/zone" = "zone-1" }
allocatable = { cpu = "16", memory = "64Gi", pods = "110" }

[[pods]]
file = "week.csv"
name = "{name}"
priority = "{class:priorities}"
owner = "Job"
time-unit = "s"
created = "{created}"
ended = "{ended}"
requests = { cpu = "{cpu}m", memory = "{memory}Mi" }

[maps.priorities]
high = "1000"
low = "0"
TOML
