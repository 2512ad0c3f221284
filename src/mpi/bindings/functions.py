"""The collective functions of MPI: one row per function, for all of its forms.

generate.py writes from this table the functions that the preload libraries and the component of Open MPI define, the
functions TRV_ with their declarations, the calls of the MPI library's own functions, and the table in docs/drop-in.md.
"""
from dataclasses import dataclass


@dataclass(frozen=True)
class Function:
    """The function MPI_<name>, with its forms MPI_I<name>, MPI_<name>_init, their forms _c, and those of Fortran.

    arguments: as in the MPI standard, up to the communicator. The name of an argument states its role (generate.ROLES).
    collective: the value of trv_collective_t by which calls are dispatched. Without it calls are only counted.
    supported: the cell in docs/drop-in.md; functions with the same cell share a row.
    displacement: the type of displacements in all forms, if it is not int in those without _c.
    """

    name: str
    arguments: str
    collective: str = ""
    supported: str = ""
    displacement: str = ""

    @property
    def names(self) -> list[str]:
        return self.arguments.split()

    @property
    def is_barrier(self) -> bool:
        return not self.arguments

    @property
    def has_large(self) -> bool:
        """Whether there are forms _c: those of all functions with counts."""
        return not self.is_barrier

    @property
    def has_counts(self) -> bool:
        """Whether it has a count per rank."""
        return any(name.endswith("counts") for name in self.names)

    @property
    def is_neighbor(self) -> bool:
        return self.name.startswith("Neighbor_")


BLOCKS = "any type, packed if it has gaps; blocks up to 2 GiB"

FUNCTIONS = (
    Function("Allreduce", "sendbuf recvbuf count datatype op", "TRV_ALLREDUCE",
             "every predefined operation on the types for which the MPI standard and the MPI library define it; "
             "commutative user-defined operations on predefined types"),
    Function("Reduce_scatter_block", "sendbuf recvbuf recvcount datatype op", "TRV_REDUCE_SCATTER",
             "as `MPI_Allreduce`"),
    Function("Reduce_scatter", "sendbuf recvbuf recvcounts datatype op", "TRV_REDUCE_SCATTER",
             "as `MPI_Allreduce`; several ranks per node only if all counts are equal"),
    Function("Allgather", "sendbuf sendcount sendtype recvbuf recvcount recvtype", "TRV_ALLGATHER", BLOCKS),
    Function("Allgatherv", "sendbuf sendcount sendtype recvbuf recvcounts displs recvtype", "TRV_ALLGATHER",
             "as `MPI_Allgather`, also packed if displacements do not ascend; several ranks per node only if all "
             "blocks have the same size"),
    Function("Bcast", "buffer count datatype root", "TRV_BROADCAST", "any type, packed if it has gaps; up to 2 GiB"),
    Function("Reduce", "sendbuf recvbuf count datatype op root", "TRV_REDUCE",
             "as `MPI_Allreduce`; operations that do not commute fall back"),
    Function("Gather", "sendbuf sendcount sendtype recvbuf recvcount recvtype root", "TRV_GATHER", BLOCKS),
    Function("Scatter", "sendbuf sendcount sendtype recvbuf recvcount recvtype root", "TRV_SCATTER", BLOCKS),
    Function("Alltoall", "sendbuf sendcount sendtype recvbuf recvcount recvtype", "TRV_ALLTOALL", BLOCKS),
    Function("Barrier", "", "TRV_ALLREDUCE",
             "as AllReduce of one byte: log3 n steps where the MPI libraries take log2 n; not from MPICH's mpi_f08"),
    # Trivance has no schedules for the following.
    Function("Scan", "sendbuf recvbuf count datatype op"),
    Function("Exscan", "sendbuf recvbuf count datatype op"),
    Function("Gatherv", "sendbuf sendcount sendtype recvbuf recvcounts displs recvtype root"),
    Function("Scatterv", "sendbuf sendcounts displs sendtype recvbuf recvcount recvtype root"),
    Function("Alltoallv", "sendbuf sendcounts sdispls sendtype recvbuf recvcounts rdispls recvtype"),
    Function("Alltoallw", "sendbuf sendcounts sdispls sendtypes recvbuf recvcounts rdispls recvtypes"),
    Function("Neighbor_allgather", "sendbuf sendcount sendtype recvbuf recvcount recvtype"),
    Function("Neighbor_allgatherv", "sendbuf sendcount sendtype recvbuf recvcounts displs recvtype"),
    Function("Neighbor_alltoall", "sendbuf sendcount sendtype recvbuf recvcount recvtype"),
    Function("Neighbor_alltoallv", "sendbuf sendcounts sdispls sendtype recvbuf recvcounts rdispls recvtype"),
    Function("Neighbor_alltoallw", "sendbuf sendcounts sdispls sendtypes recvbuf recvcounts rdispls recvtypes",
             displacement="MPI_Aint"),
)
