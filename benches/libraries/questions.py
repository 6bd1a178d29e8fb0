"""Measures the Python package: questions.py OBJECTS. benches/workloads/libraries.sh describes the settings and the output."""

import os
import pathlib
import sys
import threading
import time

import schedc

NODES, CHECKS, FORKS, DECISIONS, THREADS = (
    int(os.environ[name]) for name in ("NODES", "CHECKS", "FORKS", "DECISIONS", "THREADS")
)
NAMES = [f"node-{at}" for at in range(NODES)]
OBJECTS = pathlib.Path(sys.argv[1]).read_text()
PROFILES = schedc.Profiles()


def new_cluster():
    cluster = schedc.Cluster(profiles=PROFILES)
    cluster.apply(OBJECTS)
    return cluster


def report(operation, begin, count):
    print(f"Python\t{operation}\t{(time.perf_counter() - begin) * 1e6 / count:.3f}", flush=True)


def checks(cluster, count):
    for at in range(count):
        if not cluster.check("waiting", NAMES[at % NODES]):
            raise SystemExit("the pod fits on every node")


cluster = new_cluster()
begin = time.perf_counter()
checks(cluster, CHECKS)
report("check", begin, CHECKS)
calls = CHECKS // NODES
begin = time.perf_counter()
for _ in range(calls):
    cluster.check_nodes("waiting", NAMES)
report("check-nodes", begin, calls * NODES)
begin = time.perf_counter()
for at in range(FORKS):
    with cluster.fork():
        cluster.schedule("waiting", NAMES[at % NODES])
report("fork", begin, FORKS)
begin = time.perf_counter()
for _ in range(DECISIONS):
    cluster.decide("waiting")
report("decide", begin, DECISIONS)
threads = [threading.Thread(target=checks, args=(new_cluster(), CHECKS // THREADS)) for _ in range(THREADS)]
begin = time.perf_counter()
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
report("threads", begin, CHECKS)
