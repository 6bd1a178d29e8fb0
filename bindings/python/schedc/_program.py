"""Commands of ``schedc`` that simulate, replay and compare.

A command runs in a separate process: other threads continue, an interrupt ends it, and its memory is released at its end.
The process is Python with only the native module, which contains the command line, or another program.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import warnings
from contextlib import contextmanager
from typing import IO, Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Union

from . import _native
from ._errors import Error

PathLike = Union[str, "os.PathLike[str]"]
_PROGRESS = re.compile(r"note: (\d+) of (\d+) simulations are complete")
_REPORT = "report.html"
# Loads only the native module: loading the modules of this package and `site` takes longer than a short command.
_RUN = "import sys; sys.path.insert(0, sys.argv[1]); import _native; sys.exit(_native.main(['schedc', *sys.argv[2:]]))"


class Output(NamedTuple):
    """The result of a command, and its report as an HTML page."""

    result: Any
    report: str


class Call:
    """A call of the program. Its files are in a temporary folder, which is also the working folder."""

    def __init__(self, folder: pathlib.Path, program: Optional[PathLike]) -> None:
        self.folder = folder
        self._program = find(program)
        self._profiles: List[str] = []

    def write(self, name: str, text: str) -> str:
        """Writes a file, and returns its path for the command line."""
        self.folder.joinpath(name).write_text(text, encoding="utf-8")
        return name

    def write_profile(self, name: str, text: str) -> str:
        """Writes a profile, and returns its path for the command line."""
        self._profiles.append(name)
        return f"./{self.write(name, text)}"

    def run(self, arguments: Sequence[str], text: str = "", progress: Optional[bool] = None) -> Output:
        """Runs a command with this standard input."""
        command = [*self._program, *arguments, "--output", "json", "--report", _REPORT]
        pipes: Dict[str, Any] = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
        with subprocess.Popen(command, cwd=self.folder, **pipes) as process:
            try:
                output, messages = _communicate(process, text.encode(), progress)
            except BaseException:
                process.kill()
                raise
        if process.returncode != 0:
            message = "".join(messages).strip()
            is_profile = any(f" --> {name}:" in message for name in self._profiles)
            raise Error("invalid-profile" if is_profile else "failed-command", message)
        for message in messages:
            if message.startswith(("warning: ", "note: ")) and _REPORT not in message:
                warnings.warn(message.strip(), stacklevel=3)
        return Output(json.loads(output), self.folder.joinpath(_REPORT).read_text(encoding="utf-8"))


@contextmanager
def call(program: Optional[PathLike] = None) -> Iterator[Call]:
    """Returns a call of the program, and removes its files at the end."""
    with tempfile.TemporaryDirectory(prefix="schedc-") as folder:
        yield Call(pathlib.Path(folder), program)


def find(program: Optional[PathLike] = None) -> List[str]:
    """Returns the beginning of a command line: ``program``, the program in ``SCHEDC_PROGRAM``, or Python with the native module."""
    given = program or os.environ.get("SCHEDC_PROGRAM")
    if given:
        path = pathlib.Path(given).absolute()
        if not path.is_file():
            raise Error("no-program", f"there is no program {path}; correct `program=` or SCHEDC_PROGRAM, or leave both out")
        return [str(path)]
    if not sys.executable:
        raise Error("no-program", "Python does not know its own program; set SCHEDC_PROGRAM to the file of a program of schedc")
    folder = pathlib.Path(str(_native.__file__)).absolute().parent
    return [sys.executable, "-I", "-S", "-c", _RUN, str(folder)]


def absolute(path: PathLike) -> str:
    """Returns a path that does not depend on the working folder."""
    return str(pathlib.Path(path).absolute())


def _communicate(process: "subprocess.Popen[bytes]", text: bytes, progress: Optional[bool]) -> "tuple[bytes, List[str]]":
    assert process.stdin and process.stdout and process.stderr
    messages: List[str] = []
    threads = [
        threading.Thread(target=_write, args=(process.stdin, text)),
        threading.Thread(target=_read, args=(process.stderr, messages, progress)),
    ]
    for thread in threads:
        thread.start()
    output = process.stdout.read()
    process.wait()
    for thread in threads:
        thread.join()
    return output, messages


def _write(pipe: IO[bytes], text: bytes) -> None:
    # A command that fails early does not read its input.
    try:
        with pipe:
            pipe.write(text)
    except BrokenPipeError:
        pass


def _read(pipe: IO[bytes], messages: List[str], progress: Optional[bool]) -> None:
    bar = None
    for line in pipe:
        message = line.decode(errors="replace")
        found = _PROGRESS.match(message)
        if not found:
            messages.append(message)
        elif progress is not False:
            complete, total = map(int, found.groups())
            bar = bar or _bar(total)
            if bar is not None:
                bar.update(complete - bar.n)
    if bar is not None:
        bar.close()


def _bar(total: int) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=total, unit="simulation")
