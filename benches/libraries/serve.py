"""Measures `schedc serve`: serve.py BINARY OBJECTS. benches/workloads/libraries.sh describes the settings and the output."""

import http.client
import json
import os
import subprocess
import sys
import time

ADDRESS = "127.0.0.1:8479"
DECISIONS = int(os.environ["DECISIONS"])
BODY = json.dumps({"pod": "waiting", "maxRemedies": 0})


def ask(connection):
    connection.request("POST", "/v1/explain", BODY, {"Content-Type": "application/json"})
    response = connection.getresponse()
    answer = response.read()
    if response.status != 200:
        raise SystemExit(f"{response.status}: {answer.decode()}")


command = [sys.argv[1], "serve", sys.argv[2], "--listen", ADDRESS, "--refresh", "1000000"]
server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    for _ in range(600):
        try:
            connection = http.client.HTTPConnection(ADDRESS)
            ask(connection)
            break
        except ConnectionRefusedError:
            time.sleep(0.1)
    begin = time.perf_counter()
    for _ in range(DECISIONS):
        ask(connection)
    print(f"`schedc serve` (`explain`)\tdecide\t{(time.perf_counter() - begin) * 1e6 / DECISIONS:.3f}")
finally:
    server.terminate()
    server.wait()
