"""Builds the C library of schedc, and puts it into the wheel."""

import pathlib
import shutil
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
LIBRARY = "libschedc_c.dylib" if sys.platform == "darwin" else "libschedc_c.so"


class BuildWithLibrary(build_py):
    """Compiles the library with cargo, and copies it next to the modules."""

    def run(self):
        super().run()
        subprocess.check_call(["cargo", "build", "--release", "--locked", "-p", "schedc-c"], cwd=CHECKOUT)
        folder = pathlib.Path(self.build_lib, "schedc")
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / "target" / "release" / LIBRARY, folder / LIBRARY)


class PlatformWheel(bdist_wheel):
    """A wheel for one platform, and for every version of Python 3."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class WithLibrary(Distribution):
    """A distribution with code of one platform."""

    def has_ext_modules(self):
        return True


setup(distclass=WithLibrary, cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
