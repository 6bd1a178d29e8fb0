"""Tests that other threads run during a call."""

import sys
import threading
import unittest

import schedc
from support import node, pod


class Threads(unittest.TestCase):
    def test_a_call_releases_the_gil(self):
        cluster = schedc.Cluster([node(f"n{at}", "100") for at in range(1000)] + [pod("p")])
        other = schedc.Cluster([node("a"), pod("p")])
        questions = [{"op": "check-nodes", "pod": "p"}] * 200
        begins, events = threading.Event(), []

        def work():
            begins.set()
            cluster.requests(questions)
            events.append("end of the call")

        interval = sys.getswitchinterval()
        # Within this interval, Python does not take the GIL from a thread: another one runs only if the call releases it.
        sys.setswitchinterval(1000)
        try:
            thread = threading.Thread(target=work)
            thread.start()
            begins.wait()
            self.assertTrue(other.check("p", "a"))
            events.append("another thread")
            thread.join()
        finally:
            sys.setswitchinterval(interval)
        self.assertEqual(events, ["another thread", "end of the call"])

    def test_ten_threads_have_ten_clusters(self):
        profiles, nodes = schedc.Profiles(), [f"n{at}" for at in range(200)]
        objects = [node(name, "100") for name in nodes] + [pod("p")]
        counts = []

        def check():
            cluster = schedc.Cluster(objects, profiles=profiles)
            with cluster.fork():
                cluster.delete("Node", "n0")
                counts.append(sum(cluster.check_nodes("p", nodes[1:])))
            counts.append(sum(cluster.check_nodes("p", nodes)))

        threads = [threading.Thread(target=check) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(counts), [199] * 10 + [200] * 10)


if __name__ == "__main__":
    unittest.main()
