#!/usr/bin/env python3
"""A scheduler extender that places pods by the memory of GPUs. It needs only Python.

The annotation `example.com/gpu-memory` contains the memory of a node, or the request of a pod, in GiB. The extender rejects nodes with too
little memory, and prefers nodes with the least memory left. To stay short, it does not subtract the memory of pods that run on a node. It
listens on port 8888, or on the port in its argument; 0 is any free port.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MEMORY = "example.com/gpu-memory"


def memory(thing):
    """Returns the memory that a pod requests or a node has."""
    return int(thing["metadata"].get("annotations", {}).get(MEMORY, 0))


def filter_nodes(args):
    """ExtenderArgs to ExtenderFilterResult: the accepted nodes, and the reasons for the others."""
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
    wbufsize = -1  # a response is sent in one piece: a second one would wait for the acknowledgement of the first

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
