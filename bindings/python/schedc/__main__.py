"""``python -m schedc``, and the command ``schedc`` of the wheel."""

import pathlib
import signal
import sys

from . import _native


def main() -> None:
    """Runs the command line, and ends the process."""
    # Python's handler would delay an interrupt until the command ends.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    name = pathlib.Path(sys.argv[0]).name
    sys.exit(_native.main(["schedc" if name == "__main__.py" else name, *sys.argv[1:]]))


if __name__ == "__main__":
    main()
