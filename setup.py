"""The libraries for a wheel: built by CMake, and put beside the package's files. All else is in pyproject.toml.

libjansson, which libtrivance_formats needs, comes along. The subpackage torch does not: its extension is built and
installed by CMake for one PyTorch. A module in its place reports that.
"""
import os
import re
import shutil
import subprocess

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution
from wheel.bdist_wheel import bdist_wheel

ROOT = os.path.dirname(os.path.abspath(__file__))
BASE = "build-python"  # not build/, which is the developers'


class BuildLibraries(build_py):
    def run(self):
        super().run()
        folder = os.path.join(ROOT, BASE, "cmake")
        parts = [f"-DTRIVANCE_{part}=OFF" for part in ("TESTS", "BENCH", "MPI", "EXPLORER", "TORCH")]
        subprocess.run(["cmake", "-S", ROOT, "-B", folder, f"-DCMAKE_C_FLAGS=-ffile-prefix-map={ROOT}=.",
                        "-DCMAKE_SHARED_LINKER_FLAGS=-Wl,--strip-debug", "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON", *parts],
                       check=True)
        jobs = str(len(os.sched_getaffinity(0)))
        subprocess.run(["cmake", "--build", folder, "--parallel", jobs, "--target", "trivance_shared",
                        "trivance_formats"],
                       check=True)
        package = os.path.join(self.build_lib, "trivance")
        for file in ("src/libtrivance.so.0", "src/formats/front/libtrivance_formats.so.0", "python/trivance/torch.py"):
            shutil.copy(os.path.join(folder, file), package)
        shutil.copy(_jansson(os.path.join(package, "libtrivance_formats.so.0")), package)


def _jansson(library):
    """The file of libjansson that the loader finds."""
    found = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout
    return re.search(r"libjansson\S* => (\S+)", found).group(1)


class PlatformWheel(bdist_wheel):
    """For this system, and for every Python 3: there is no extension in it."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class WithLibraries(Distribution):
    def has_ext_modules(self):
        return True


os.makedirs(os.path.join(ROOT, BASE), exist_ok=True)
setup(distclass=WithLibraries, cmdclass={"build_py": BuildLibraries, "bdist_wheel": PlatformWheel},
      options={"build": {"build_base": BASE}, "egg_info": {"egg_base": BASE}})
