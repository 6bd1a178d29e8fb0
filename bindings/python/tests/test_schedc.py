"""Tests of the Python package: ``python -m unittest discover``, or pytest."""

import gzip
import json
import os
import pathlib
import pickle
import subprocess
import unittest

import schedc
from schedc import _program
from support import CHECKOUT, node, pod

PROFILES = sorted((CHECKOUT / "tools" / "import" / "tests" / "profiles").glob("*.toml"))


class Questions(unittest.TestCase):
    def test_a_check_has_the_plugin_and_the_reasons(self):
        cluster = schedc.Cluster([node("a"), pod("p", "3"), pod("q")])
        answer = cluster.check("p", "a")
        self.assertFalse(answer)
        self.assertEqual((answer.plugin, answer.reasons), ("NodeResourcesFit", ["Insufficient cpu"]))
        self.assertTrue(cluster.check("default/q", "a"))

    def test_an_answer_is_a_value(self):
        rejection = schedc.Answer("Unschedulable", "Own", ["no"])
        self.assertEqual(repr(rejection), "Answer(code='Unschedulable', plugin='Own', reasons=['no'])")
        self.assertEqual(pickle.loads(pickle.dumps(rejection)), rejection)
        self.assertNotEqual(rejection, schedc.Answer())
        self.assertTrue(schedc.Answer())

    def test_many_nodes_are_checked_at_once(self):
        cluster = schedc.Cluster([node("a"), node("b", "4"), pod("p", "3")])
        self.assertEqual(cluster.check_nodes("p"), [False, True])
        self.assertEqual(cluster.check_nodes("p", ["b", "a", "b"]), [True, False, True])
        self.assertEqual(cluster.check_nodes("p", []), [])

    def test_a_fork_reverts_its_changes_unless_it_is_committed(self):
        cluster = schedc.Cluster([node("a"), pod("p", "2")])
        with cluster.fork():
            self.assertTrue(cluster.schedule("p", "a"))
            self.assertEqual(cluster.pods(), {"default/p": "a"})
        self.assertEqual(cluster.pods(), {"default/p": None})
        with cluster.fork():
            self.assertEqual(cluster.schedule_on_any("p"), "a")
            cluster.commit()
        self.assertEqual(cluster.pods(), {"default/p": "a"})
        self.assertTrue(cluster.unschedule("p"))
        self.assertFalse(cluster.unschedule("p"))

    def test_an_error_within_a_fork_reverts_its_changes(self):
        cluster = schedc.Cluster([node("a")])
        with self.assertRaises(schedc.Error), cluster.fork():
            cluster.delete("Node", "a")
            cluster.check("p", "a")
        self.assertEqual(cluster.nodes(), ["a"])

    def test_a_search_is_limited_to_the_given_nodes(self):
        cluster = schedc.Cluster([node("a"), node("b"), pod("p")])
        self.assertIsNone(cluster.schedule_on_any("p", []))
        self.assertEqual(cluster.schedule_on_any("p", ["b"]), "b")

    def test_a_decision_is_explained_by_node(self):
        cluster = schedc.Cluster([node("a"), node("b", "4"), pod("p", "3")])
        self.assertEqual(cluster.decide("p")["chosen"], "b")
        rows = cluster.explain("p")
        rows = rows if isinstance(rows, list) else rows.to_dict("records")
        self.assertEqual([row["node"] for row in rows], ["a", "b"])
        self.assertEqual((rows[0]["reasons"], rows[1]["chosen"]), ("Insufficient cpu", True))
        self.assertGreater(rows[1]["NodeResourcesFit"], 0)

    def test_an_estimate_counts_nodes(self):
        cluster = schedc.Cluster([pod("p", "2"), pod("q", "2"), pod("r", "9")])
        estimate = cluster.estimate(node("group", "2"), ["p", "q", "r"], max_nodes=5)
        self.assertEqual((estimate["nodes"], estimate["placed"]), (2, ["default/p", "default/q"]))
        self.assertEqual(estimate["left"][0]["rejection"]["plugin"], "NodeResourcesFit")

    def test_objects_come_from_texts_and_files(self):
        cluster = schedc.Cluster("{ apiVersion: v1, kind: Node, metadata: { name: a } }")
        cluster.apply(CHECKOUT / "examples" / "cluster" / "nodes.yaml")
        self.assertGreater(len(cluster.nodes()), 1)
        cluster.clear()
        self.assertEqual(cluster.nodes(), [])

    def test_profiles_are_dictionaries_texts_and_files(self):
        resources = [{"name": "cpu", "weight": 1}]
        arguments = {"NodeResourcesFit": {"scoring-strategy": {"type": "MostAllocated", "resources": resources}}}
        packed = schedc.Profiles({"packed": {"scheduler-name": "packed", "args": arguments}})
        objects = [node("a"), node("b"), pod("x", nodeName="b"), pod("p")]
        self.assertEqual(schedc.Cluster(objects, profiles=packed).decide("p")["chosen"], "b")
        self.assertEqual(schedc.Cluster(objects).decide("p")["chosen"], "a")
        files = schedc.Profiles.from_files(CHECKOUT / "profiles" / "edge.toml", CHECKOUT / "profiles" / "binpack.toml")
        self.assertEqual(files.names, ["edge", "binpack"])
        self.assertEqual(schedc.Cluster(objects, profile="binpack", profiles=files).decide("p")["chosen"], "b")

    def test_errors_have_a_code(self):
        cluster = schedc.Cluster()
        for code, work in {
            "unknown-pod": lambda: cluster.decide("p"),
            "invalid-objects": lambda: cluster.apply("{"),
            "unknown-kind": lambda: cluster.delete("DaemonSet", "a"),
            "unknown-profile": lambda: schedc.Cluster(profile="other"),
            "invalid-profile": lambda: schedc.Profiles({"own": "scheduler-name = 7"}),
            "invalid-scenario": lambda: schedc.evaluate(["{}"]),
        }.items():
            with self.assertRaises(schedc.Error) as caught:
                work()
            self.assertEqual(caught.exception.code, code)
            copy = pickle.loads(pickle.dumps(caught.exception))
            self.assertEqual((copy.code, copy.message), (code, str(caught.exception)))
        answers = cluster.requests([{"op": "nodes"}, {"op": "none"}])
        self.assertEqual(answers[0], {"result": []})
        self.assertEqual(answers[1]["error"]["code"], "invalid-request")


class Scenarios(unittest.TestCase):
    def test_decisions_are_rows(self):
        scenario = {"id": "s", "profile": "default", "objects": [node("a")], "steps": [{"schedule": pod("p")}]}
        rows = schedc.evaluate([scenario, json.dumps(scenario)])
        rows = rows if isinstance(rows, list) else rows.to_dict("records")
        self.assertEqual([row["node"] for row in rows], ["a", "a"])
        self.assertEqual(rows[0]["pod"], "default/p")

    def test_lines_have_the_bytes_of_the_command(self):
        with gzip.open(CHECKOUT / "tests" / "conformance" / "corpora" / "taints.jsonl.gz") as scenarios:
            text = scenarios.read()
        command = [*_program.find(), "evaluate", "--profile", "default", "-"]
        expected = subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True).stdout
        lines = schedc.evaluate_lines(text.splitlines(), profile="default")
        self.assertEqual(b"".join(line + b"\n" for line in lines), expected)

    def test_lines_of_all_corpora_have_the_bytes_of_evaluate(self):
        corpus, expected = os.environ.get("SCHEDC_CORPUS"), os.environ.get("SCHEDC_EXPECTED")
        if not corpus or not expected:
            self.skipTest("SCHEDC_CORPUS and SCHEDC_EXPECTED name no files; .ci/python sets them")
        with gzip.open(corpus) as scenarios:
            lines = list(schedc.evaluate_lines(scenarios, schedc.Profiles.from_files(*PROFILES)))
        self.assertEqual(len(lines), pathlib.Path(expected).read_bytes().count(b"\n"))
        self.assertTrue(b"".join(line + b"\n" for line in lines) == pathlib.Path(expected).read_bytes(), "the lines differ")


if __name__ == "__main__":
    unittest.main()
