"""Tests of objects from tables, and of score functions in Python."""

import unittest

import schedc
from support import needs, node, pod, records

COLUMNS = {"name": ["a", "b"], "cpu": [2, 0.5], "memory": ["8Gi", None], "example.com/gpu": [None, 4], "labels.zone": ["x", "y"]}


class Tables(unittest.TestCase):
    def check(self, table):
        first, second = schedc.nodes(table)
        self.assertEqual(first["metadata"], {"name": "a", "labels": {"zone": "x"}})
        self.assertEqual(first["status"]["allocatable"], {"pods": "110", "cpu": "2", "memory": "8Gi"})
        self.assertEqual(second["status"]["allocatable"], {"pods": "110", "cpu": "0.5", "example.com/gpu": "4"})

    def test_columns_and_rows_are_nodes(self):
        self.check(COLUMNS)
        self.check([dict(zip(COLUMNS, row)) for row in zip(*COLUMNS.values())])

    @needs("pandas")
    def test_data_frames_are_nodes(self):
        import pandas

        self.check(pandas.DataFrame(COLUMNS))
        self.check(pandas.DataFrame(COLUMNS).convert_dtypes())

    @needs("pyarrow")
    def test_arrow_tables_are_nodes(self):
        import pyarrow

        self.check(pyarrow.table(COLUMNS))

    def test_pods_have_nodes_priorities_and_requests(self):
        table = {
            "name": ["p", "q"],
            "namespace": ["shop", None],
            "node": ["a", None],
            "priority": [None, 7.0],
            "scheduler": [None, "packed"],
            "cpu": [1, "100m"],
            "labels": [{"app": "web"}, None],
        }
        first, second = schedc.pods(table)
        self.assertEqual(first["metadata"], {"name": "p", "labels": {"app": "web"}, "namespace": "shop"})
        self.assertEqual(first["spec"]["nodeName"], "a")
        self.assertEqual((second["spec"]["priority"], second["spec"]["schedulerName"]), (7, "packed"))
        cluster = schedc.Cluster(schedc.nodes(COLUMNS) + [first, second])
        self.assertEqual(cluster.pods(), {"shop/p": "a", "default/q": None})
        self.assertEqual(cluster.check_nodes("q", ["a", "b"]), [True, True])

    def test_a_misspelled_column_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "no column `memroy`; the columns are cpu, .*memory"):
            schedc.nodes({"name": ["a"], "memroy": ["8Gi"]})
        with self.assertRaisesRegex(ValueError, "has no `name`"):
            schedc.pods({"cpu": [1]})
        with self.assertRaisesRegex(ValueError, "different lengths: name 1, cpu 2"):
            schedc.nodes({"name": ["a"], "cpu": [1, 2]})


class Scores(unittest.TestCase):
    def test_a_score_function_outvotes_the_profile(self):
        cluster = schedc.Cluster([node("a", "4"), node("b", "2"), pod("p"), pod("q"), pod("r", "9")])
        self.assertEqual(cluster.decide("p")["chosen"], "a")
        rows = records(schedc.place(cluster, ["p", "q", "r"], lambda pod, node: 100 * (node == "b"), weight=5))
        self.assertEqual([row["node"] for row in rows], ["b", "b", None])
        self.assertEqual(rows[0]["score"], 100)
        self.assertIn("Insufficient cpu", rows[2]["message"])
        self.assertEqual(cluster.pods(), {"default/p": "b", "default/q": "b", "default/r": None})

    def test_equal_sums_leave_the_choice_to_the_profile(self):
        cluster = schedc.Cluster([node("a", "4"), node("b", "4"), pod("p")])
        chosen = cluster.decide("p")["chosen"]
        self.assertEqual(records(schedc.place(cluster, ["p"], lambda pod, node: 50))[0]["node"], chosen)

    def test_a_score_out_of_range_is_an_error(self):
        cluster = schedc.Cluster([node("a"), pod("p")])
        with self.assertRaisesRegex(ValueError, "score of pod p on node a is 101"):
            schedc.place(cluster, ["p"], lambda pod, node: 101)


if __name__ == "__main__":
    unittest.main()
