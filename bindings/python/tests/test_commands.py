"""Tests of simulations, explanations, replays and back-tests."""

import json
import pathlib
import sys
import tempfile
import unittest
import warnings

import schedc
from support import CHECKOUT, node, pod, records, zstd

PACKED = {
    "scheduler-name": "packed",
    "args": {"NodeResourcesFit": {"scoring-strategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}}},
}
MAPPING = {
    "nodes": [{"count": 3, "name": "n{index}", "allocatable": {"cpu": "4", "memory": "8Gi"}}],
    "pods": [
        {
            "file": "pods.csv",
            "name": "p-{index}",
            "time-unit": "s",
            "created": "{created}",
            "ended": "{ended}",
            "requests": {"cpu": "{cpu}"},
        }
    ],
}
PODS = {"created": [0, 1, 2, 3], "ended": [100, 90, 80, 70], "cpu": [1, 2, 3, 4]}


class Simulations(unittest.TestCase):
    def test_pods_are_placed_or_have_a_reason(self):
        result = schedc.simulate([node("a"), pod("p"), pod("q", "9")])
        self.assertEqual([(row["pod"], row["node"]) for row in records(result.placements)], [("default/p", "a")])
        self.assertIn("Insufficient cpu", records(result.unschedulable)[0]["message"])
        self.assertEqual((result.summary["placed"], result.summary["unschedulable"]), (1, 1))
        self.assertEqual(records(result.utilisation)[0]["percent"], 50)

    def test_profiles_are_interpreted_or_those_of_the_program(self):
        objects = [node("a"), node("b"), pod("x", nodeName="b"), pod("p")]
        profiles = schedc.Profiles({"packed": PACKED})
        packed = schedc.simulate(objects, profile="packed", profiles=profiles)
        self.assertEqual(records(packed.placements)[0]["node"], "b")
        self.assertEqual(records(schedc.simulate(objects, profile="default").placements)[0]["node"], "a")
        self.assertEqual(schedc.Cluster(objects, profiles=profiles).decide("p")["chosen"], "b")

    def test_events_change_the_cluster_over_time(self):
        events = [{"at": "5s", "create": node("b", "16")}, {"at": "9s", "delete": {"kind": "Node", "name": "b"}}]
        result = schedc.simulate([node("a"), pod("q", "9")], events=events, until="20s", log=True)
        self.assertEqual([(row["node"], row["at"]) for row in records(result.placements)], [("b", 5)])
        self.assertGreater(len(result.log), 2)
        self.assertGreater(len(result.over_time), 0)
        self.assertEqual(result.summary["end"], 20)

    def test_folders_and_files_are_objects(self):
        folder, file = CHECKOUT / "examples" / "cluster", CHECKOUT / "examples" / "cluster" / "nodes.yaml"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertGreater(schedc.simulate(folder).summary["placed"], 0)
            self.assertGreater(schedc.simulate(file).summary["nodes"], 0)

    def test_errors_are_those_of_the_command(self):
        for code, text, work in [
            ("failed-command", "standard input:1", lambda: schedc.simulate("{")),
            ("failed-command", "other", lambda: schedc.simulate([node("a")], profile="other")),
            ("no-program", "/absent", lambda: schedc.simulate([node("a")], program="/absent")),
        ]:
            with self.assertRaises(schedc.Error) as caught:
                work()
            self.assertEqual(caught.exception.code, code)
            self.assertIn(text, caught.exception.message)

    def test_notes_are_warnings(self):
        with self.assertWarnsRegex(UserWarning, "no pending pods"):
            schedc.simulate([node("a")])

    def test_notebooks_show_tables_and_a_report(self):
        result = schedc.simulate([node("a"), pod("<p>")], defaults=False)
        page = result._repr_html_()
        self.assertIn("<td>default/&lt;p&gt;</td>", page)
        self.assertNotIn("<p>", page)
        frame = result.report._repr_html_()
        self.assertTrue(frame.startswith('<iframe sandbox="allow-scripts'))
        self.assertNotIn("<script>", frame)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "report.html")
            result.report.save(file)
            self.assertIn("<script>", file.read_text(encoding="utf-8"))


class Explanations(unittest.TestCase):
    def test_nodes_have_verdicts_and_scores(self):
        result = schedc.explain([node("a"), node("b", "4"), pod("p", "3")], "p")
        self.assertEqual(result.node, "b")
        rows = records(result.nodes)
        self.assertEqual([row["feasible"] for row in rows], [False, True])
        self.assertEqual((rows[0]["plugin"], rows[0]["reasons"]), ("NodeResourcesFit", "Insufficient cpu"))
        self.assertGreater(rows[1]["NodeResourcesFit"], 0)
        self.assertIn("Insufficient cpu", result._repr_html_())

    def test_a_node_that_several_plugins_exclude_together_has_no_plugin(self):
        rejection = {"code": "UnschedulableAndUnresolvable", "reasons": ["node(s) didn't satisfy plugin(s) [A B]"]}
        raw = {"node": None, "nodes": [{"node": "a", "feasible": False, "rejections": [rejection]}]}
        row = records(schedc.Explanation(raw, "").nodes)[0]
        self.assertEqual((row["plugin"], row["reasons"]), ("", rejection["reasons"][0]))

    def test_an_unschedulable_pod_has_remedies(self):
        result = schedc.explain([node("a"), pod("p", "3")], "p", all_filters=True)
        self.assertIsNone(result.node)
        self.assertIn("lower the cpu request of container c from 3 to 2", [row["changes"] for row in records(result.remedies)])

    def test_a_node_is_compared(self):
        result = schedc.explain([node("a"), node("b", "4"), pod("p", "3")], "p", against="a")
        self.assertEqual(result.raw["comparison"]["deciding"], "NodeResourcesFit")


@unittest.skipIf(sys.platform == "win32", "the command replay needs the signals of Unix")
class Replays(unittest.TestCase):
    def test_a_recording_is_compared_with_a_profile(self):
        lines = [
            {"recording": {"version": 1, "begin": "start", "schedc": "0.1.0"}},
            {"set": node("a")},
            {"set": node("b", "4")},
            {"set": pod("p")},
            {"synced": {"objects": 3}},
            {"bind": {"namespace": "default", "name": "p", "scheduler": "default-scheduler", "node": "a"}},
            {"set": pod("p", nodeName="a")},
            {"end": "stop"},
        ]
        lines[3]["set"]["metadata"].update(namespace="default", uid="1")
        lines[6]["set"]["metadata"].update(namespace="default", uid="1")
        content = "".join(json.dumps({"at": 1764090000000 + at, **line}) + "\n" for at, line in enumerate(lines))
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "recording-000001.jsonl.zst").write_bytes(zstd(content.encode()))
            result = schedc.replay(folder)
            closed = schedc.replay(folder, closed_loop=True)
        row = records(result.disagreements)[0]
        self.assertEqual((row["pod"], row["result"], row["node"], row["best"]), ("default/p", "lowerScore", "a", ["b"]))
        self.assertEqual(records(result.agreement)[0]["lowerScore"], 1)
        self.assertEqual(len(result.pods), 0)
        self.assertEqual(records(closed.pods)[0]["node"], "b")


class Backtests(unittest.TestCase):
    def test_profiles_are_compared_on_tables(self):
        result = schedc.backtest({"pods.csv": PODS}, {"default": "", "packed": PACKED}, mapping=MAPPING, seeds=2, samples=5)
        rows = {(row["metric"], row["of"]): row for row in records(result.comparison)}
        self.assertEqual((rows["bound", ""]["default"], rows["bound", ""]["packed"]), (4, 4))
        metrics = records(result.metrics)
        self.assertEqual({row["profile"] for row in metrics}, {"default", "packed"})
        self.assertIn("difference.mean", metrics[-1])
        series = records(result.series)
        self.assertEqual({row["profile"] for row in series}, {"default", "packed"})
        self.assertIn("cpu.utilisation", series[0])
        self.assertIn("NodeResourcesFit", {row["plugin"] for row in records(result.influence)})
        self.assertIn("Back-test", result._repr_html_())
        self.assertTrue(result.assumptions)

    def test_weights_are_swept(self):
        result = schedc.backtest(
            {"pods.csv": PODS}, {"default": ""}, mapping=MAPPING, seeds=1, influence=0, sweep=["NodeResourcesFit.weight=1,5"]
        )
        names = {row["profile"] for row in records(result.metrics)}
        self.assertEqual(names, {"default NodeResourcesFit.weight=1", "default NodeResourcesFit.weight=5"})

    def test_a_wrong_profile_has_its_diagnostics(self):
        with self.assertRaises(schedc.Error) as caught:
            schedc.backtest({"pods.csv": PODS}, {"own": "scheduler-name = 7"}, mapping=MAPPING)
        self.assertEqual(caught.exception.code, "invalid-profile")
        self.assertIn("own.toml:1:18", caught.exception.message)
        with self.assertRaises(schedc.Error) as caught:
            schedc.backtest({"pods.csv": PODS}, {"../own": ""}, mapping=MAPPING)
        self.assertEqual(caught.exception.code, "invalid-profile")


if __name__ == "__main__":
    unittest.main()
