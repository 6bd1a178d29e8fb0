"""Tests of the types, of the documentation and of the notebook."""

import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import warnings

from support import CHECKOUT, needs

PACKAGE = CHECKOUT / "bindings" / "python"
NOTEBOOK = PACKAGE / "examples" / "policies.ipynb"
PUBLIC_TRACE = PACKAGE / "examples" / "openb.ipynb"


class Types(unittest.TestCase):
    @needs("mypy")
    def test_the_types_are_consistent(self):
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "--cache-dir", cache, "schedc"]
            found = subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True)
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)

    @needs("mypy")
    def test_callers_see_the_types(self):
        code = "import schedc\nreveal_type(schedc.Cluster().check('p', 'a'))\nschedc.Cluster().check(1, 'a')\n"
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "caller.py")
            file.write_text(code, encoding="utf-8")
            environment = {**os.environ, "MYPYPATH": str(PACKAGE)}
            command = [sys.executable, "-m", "mypy", "--cache-dir", folder, str(file)]
            found = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        self.assertIn('note: Revealed type is "schedc._native.Answer"', found.stdout)
        self.assertIn('Argument 1 to "check" of "Cluster" has incompatible type "int"; expected "str"', found.stdout)
        self.assertIn("Found 1 error", found.stdout)


class Documentation(unittest.TestCase):
    def test_the_example_of_the_libraries_prints_what_it_shows(self):
        page = CHECKOUT.joinpath("docs", "libraries.md").read_text(encoding="utf-8")
        code, output = re.search(r"```python\n(.*?)```.*?```text\n(.*?)```", page, re.DOTALL).groups()
        found = io.StringIO()
        with contextlib.redirect_stdout(found):
            exec(compile(code, "docs/libraries.md", "exec"), {"__name__": "documentation"})
        self.assertEqual(found.getvalue(), output)

    @needs("pandas", "pyarrow")
    def test_the_code_of_the_page_prints_what_it_shows(self):
        page = CHECKOUT.joinpath("docs", "python.md").read_text(encoding="utf-8")
        blocks = re.findall(r"```python\n(.*?)```(?:\n+```text\n(.*?)```)?", page, re.DOTALL)
        self.assertGreater(len(blocks), 5)
        names, folder = {"__name__": "documentation"}, os.getcwd()
        os.chdir(CHECKOUT)
        try:
            for code, output in blocks:
                found = io.StringIO()
                with contextlib.redirect_stdout(found), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    exec(compile(code, "docs/python.md", "exec"), names)
                self.assertEqual(lines(found.getvalue()), lines(output), code)
        finally:
            os.chdir(folder)


class Notebooks(unittest.TestCase):
    def test_their_outputs_are_small(self):
        for notebook in (NOTEBOOK, PUBLIC_TRACE):
            self.assertLess(notebook.stat().st_size, 60_000)

    @needs("pandas", "nbclient", "nbformat", "ipykernel")
    def test_the_generated_trace_has_the_results_that_the_notebook_shows(self):
        self.assert_reproducible(NOTEBOOK)

    @needs("pandas", "nbclient", "nbformat", "ipykernel")
    @unittest.skipUnless(os.environ.get("OPENB"), "OPENB names no folder with the tables of the trace openb")
    def test_the_public_trace_has_the_results_that_the_notebook_shows(self):
        self.assert_reproducible(PUBLIC_TRACE)

    def assert_reproducible(self, path):
        import nbclient
        import nbformat

        notebook = nbformat.read(path, as_version=4)
        expected = printed(notebook)
        nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(path.parent)}}).execute()
        self.assertEqual(printed(notebook), expected)
        self.assertGreater(len(expected), 1)


def lines(text):
    """Returns lines without trailing spaces."""
    return [line.rstrip() for line in text.rstrip().splitlines()]


def printed(notebook):
    """Returns the lines that each cell prints."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    texts = ("".join(output.text for output in cell.outputs if output.get("name") == "stdout") for cell in cells)
    return [lines(text) for text in texts if text]


if __name__ == "__main__":
    unittest.main()
