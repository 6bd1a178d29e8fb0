"""Tests of the process that runs a command."""

import io
import unittest
from unittest import mock

import schedc
from schedc import _program
from support import needs_program, node


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


@needs_program
class Interrupts(unittest.TestCase):
    def test_an_interrupt_ends_the_process(self):
        processes = []

        def interrupted(process, *_):
            processes.append(process)
            raise KeyboardInterrupt

        with mock.patch.object(_program, "_communicate", interrupted), self.assertRaises(KeyboardInterrupt):
            schedc.simulate([node("a")])
        self.assertNotEqual(processes[0].returncode, None)


if __name__ == "__main__":
    unittest.main()
