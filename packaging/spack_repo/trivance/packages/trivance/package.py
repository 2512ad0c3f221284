"""A recipe for Spack 1.0 and later. It is imported by a test, against a stub of Spack, but was not run with Spack.

    make dist                                        # trivance-0.3.0.tar.gz, in the current folder
    spack repo add packaging/spack_repo/trivance
    spack install --no-checksum trivance             # in the folder of the archive
"""
import os

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Trivance(CMakePackage):
    """Collectives on rings, tori and meshes: schedules that are proved exact, a planner, a packet simulator, and
    libraries that run the schedules in MPI programs and without MPI."""

    homepage = "https://arxiv.org/abs/2602.17254"
    manual_download = True
    url = f"file://{os.getcwd()}/trivance-0.3.0.tar.gz"

    license("Apache-2.0")

    # The archive contains this recipe, so its checksum is not here: `make dist` prints it.
    version("0.3.0")

    variant("tool", default=True, description="The tool, files and drawings; off: the core, which needs only libc")
    variant("mpi", default=True, when="+tool", description="The MPI layer, for Open MPI or MPICH")

    depends_on("c", type="build")
    depends_on("cmake@3.18:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build", when="+tool")
    depends_on("jansson", when="+tool")
    depends_on("mpi", when="+mpi")
    depends_on("libfabric@1.14:", when="+tool")
    depends_on("hwloc@2:", when="+tool")
    depends_on("python@3.10:", type=("build", "run"), when="+tool")

    requires("^[virtuals=mpi] openmpi", "^[virtuals=mpi] mpich", policy="one_of", when="+mpi",
             msg="Trivance supports Open MPI and MPICH")

    generator("ninja")

    def cmake_args(self):
        args = [self.define_from_variant("TRIVANCE_TOOL", "tool"), self.define_from_variant("TRIVANCE_MPI", "mpi")]
        args += [self.define(f"TRIVANCE_{part}", False) for part in ("TESTS", "BENCH", "EXPLORER", "TORCH")]
        if self.spec.satisfies("+mpi"):
            # The compiler wrapper has this name in each MPI; CMake does not search for those that are off.
            for mpi in ("openmpi", "mpich", "abi"):
                chosen = self.spec.satisfies(f"^[virtuals=mpi] {mpi}")
                args.append(self.define(f"TRIVANCE_WRAPPER_{mpi}",
                                        self.spec["mpi"].prefix.bin.mpicc if chosen else False))
        return args
