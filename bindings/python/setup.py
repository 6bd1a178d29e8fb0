"""Builds the C library and the program of schedc, and puts them into the wheel.

``SCHEDC_BUILT_LIBRARY`` and ``SCHEDC_BUILT_PROGRAM`` name files that are already built.
"""

import os
import pathlib
import shutil
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
LIBRARY = "libschedc_c.dylib" if sys.platform == "darwin" else "libschedc_c.so"


class BuildWithPrograms(build_py):
    """Compiles the library and the program with cargo, and copies them next to the modules."""

    def run(self):
        super().run()
        library, program = os.environ.get("SCHEDC_BUILT_LIBRARY"), os.environ.get("SCHEDC_BUILT_PROGRAM")
        if not library or not program:
            features = "schedc/recordings,schedc/run"
            command = ["cargo", "build", "--release", "--locked", "-p", "schedc-c", "-p", "schedc", "--features", features]
            subprocess.check_call(command, cwd=CHECKOUT)
        built = CHECKOUT / os.environ.get("CARGO_TARGET_DIR", "target") / "release"
        folder = pathlib.Path(self.build_lib, "schedc")
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(library or built / LIBRARY, folder / LIBRARY)
        shutil.copy(program or built / "schedc", folder / "schedc")


class PlatformWheel(bdist_wheel):
    """A wheel for one platform, and for every version of Python 3."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class WithPrograms(Distribution):
    """A distribution with code of one platform."""

    def has_ext_modules(self):
        return True


setup(distclass=WithPrograms, cmdclass={"build_py": BuildWithPrograms, "bdist_wheel": PlatformWheel})
