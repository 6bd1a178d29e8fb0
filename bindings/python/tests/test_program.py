"""Tests of the process that runs a command."""

import io
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import schedc
from schedc import _program
from support import node


class Progress(unittest.TestCase):
    def test_notes_about_progress_move_a_bar(self):
        lines = b"note: 3 of 8 simulations are complete\nwarning: a node has no price\nnote: 5 of 8 simulations are complete\n"
        for progress, moves in [(None, [3, 2]), (False, [])]:
            bar, messages = mock.Mock(n=0), []
            bar.update.side_effect = lambda more, bar=bar: setattr(bar, "n", bar.n + more)
            with mock.patch.object(_program, "_bar", return_value=bar) as create:
                _program._read(io.BytesIO(lines), messages, progress)
            self.assertEqual([call.args[0] for call in bar.update.mock_calls], moves)
            self.assertEqual(messages, ["warning: a node has no price\n"])
            self.assertEqual((create.called, bar.close.called), (bool(moves), bool(moves)))


class Interrupts(unittest.TestCase):
    def test_an_interrupt_ends_the_process(self):
        processes = []

        def interrupted(process, *_):
            processes.append(process)
            raise KeyboardInterrupt

        with mock.patch.object(_program, "_communicate", interrupted), self.assertRaises(KeyboardInterrupt):
            schedc.simulate([node("a")])
        self.assertNotEqual(processes[0].returncode, None)


class CommandLine(unittest.TestCase):
    def run_python(self, *arguments):
        return subprocess.run([sys.executable, *arguments], capture_output=True, text=True)

    def test_the_module_is_the_program(self):
        result = self.run_python("-m", "schedc", "--version")
        self.assertEqual((result.returncode, result.stdout), (0, f"schedc {schedc.version()}\n"))
        script = pathlib.Path(sys.executable).with_name("schedc")
        if script.exists():
            found = subprocess.run([str(script), "--help"], capture_output=True, text=True)
            self.assertIn("Usage: schedc <COMMAND>", found.stdout)

    def test_errors_have_an_exit_code(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "own.toml")
            file.write_text("scheduler-name = 7", encoding="utf-8")
            result = self.run_python("-m", "schedc", "check", str(file))
        self.assertEqual(result.returncode, 1)
        self.assertIn("own.toml:1:18", result.stderr)

    def test_a_command_returns_to_its_caller(self):
        result = self.run_python("-c", "from schedc import _native; print(_native.main(['schedc', 'profiles']))")
        self.assertEqual(result.stdout.splitlines()[-1], "0", result.stderr)


if __name__ == "__main__":
    unittest.main()
