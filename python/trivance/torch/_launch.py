"""Rank variables under mpirun, translated to the names that torchrun sets and PyTorch reads."""

import os
import zlib

# Variables with the rank, number of ranks, rank on the host, and ranks on the host: Open MPI; MPICH and Slurm.
_LAUNCHERS = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
)


def _job() -> int:
    """A number common to the ranks of an mpirun on one host and not to other jobs: a hash of its namespace or pid."""
    name = os.environ.get("PMIX_NAMESPACE") or os.environ.get("PMI_ID_JOB") or str(os.getppid())
    return zlib.crc32(name.encode())


def fill_environment() -> None:
    """Sets RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE if mpirun has started this process, and on one host also
    MASTER_ADDR and MASTER_PORT, so that init_process_group("trivance") needs no arguments. Keeps existing values."""
    if "RANK" in os.environ:
        return
    for rank, ranks, local_rank, local_ranks in _LAUNCHERS:
        if rank not in os.environ or ranks not in os.environ:
            continue
        os.environ["RANK"] = os.environ[rank]
        os.environ.setdefault("WORLD_SIZE", os.environ[ranks])
        for name, value in (("LOCAL_RANK", local_rank), ("LOCAL_WORLD_SIZE", local_ranks)):
            if value in os.environ:
                os.environ.setdefault(name, os.environ[value])
        if os.environ.get(local_ranks) == os.environ[ranks]:
            os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
            os.environ.setdefault("MASTER_PORT", str(20000 + _job() % 12000))
        return
