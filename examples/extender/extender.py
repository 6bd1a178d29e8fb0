#!/usr/bin/env python3
"""A scheduler extender: shares the memory of GPUs. It needs nothing but Python.

Nodes say in an annotation how much they have, pods how much they need (both `example.com/gpu-memory`, in GiB). It takes out
the nodes that have too little, and prefers those on which the least is left over. It listens on port 8888, or on the one that
it is given; 0 is any that is free.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MEMORY = "example.com/gpu-memory"


def memory(thing):
    """What a pod needs, or a node has."""
    return int(thing["metadata"].get("annotations", {}).get(MEMORY, 0))


def filter_nodes(args):
    """ExtenderArgs to ExtenderFilterResult: the nodes that are left, and why others are not."""
    wanted = memory(args["Pod"])
    fits = [node for node in args["Nodes"]["items"] if memory(node) >= wanted]
    failed = {
        node["metadata"]["name"]: "node(s) had too little GPU memory"
        for node in args["Nodes"]["items"]
        if memory(node) < wanted
    }
    return {"Nodes": {"items": fits}, "FailedNodes": failed}


def prioritize(args):
    """ExtenderArgs to HostPriorityList: 0 to 10 for each node."""
    wanted = memory(args["Pod"])
    left = {node["metadata"]["name"]: memory(node) - wanted for node in args["Nodes"]["items"]}
    return [{"Host": name, "Score": max(0, 10 - amount)} for name, amount in left.items()]


VERBS = {"/filter": filter_nodes, "/prioritize": prioritize}


class Extender(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay open
    wbufsize = -1  # an answer goes out in one piece: the second would wait for the first to be acknowledged

    def do_POST(self):
        args = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        verb = VERBS.get(self.path)
        answer = json.dumps(verb(args) if verb else {}).encode()
        self.send_response(200 if verb else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8888), Extender)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
