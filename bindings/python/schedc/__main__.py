"""``python -m schedc``, and the command ``schedc`` of the wheel: the program itself."""

import os
import sys

from ._program import find


def main() -> None:
    """Replaces this process by the program."""
    program = find()
    os.execv(program, [sys.argv[0] if sys.argv[0].endswith("schedc") else "schedc", *sys.argv[1:]])


if __name__ == "__main__":
    main()
