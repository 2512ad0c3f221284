#!/usr/bin/env python3
"""Checks that one row in the table of MPI's functions is sufficient for a new collective: adds one to the table in
memory, and finds its functions in everything that is generated. No line has more than 120 characters.

Usage: bindings.py SOURCES
"""
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1] + "/src/mpi/bindings")
import functions  # noqa: E402 (needs the path)

ROW = functions.Function("Toy", "sendbuf recvbuf count datatype op", "TRV_ALLREDUCE", "toys")
COUNTED = functions.Function("Toyv", "sendbuf sendcounts displs sendtype recvbuf recvcount recvtype")
functions.FUNCTIONS += (ROW, COUNTED)
import generate  # noqa: E402 (reads the table)

EXPECTED = {
    "trivance/trivance_mpi.h": ["TRV_Toy(", "TRV_Toy_c(", "TRV_Itoy(", "TRV_Toy_init(", "TRV_Toy_plan_create("],
    "mpi/front/api_functions.c": ["TRV_Toy(", "TRV_Toy_c(", "TRV_Itoy(", "TRV_Toy_init(", "TRV_Toy_plan_create("],
    "mpi/front/library_functions.c": ["PMPI_Toy(", "PMPI_Toy_c(", "PMPI_Itoy(", "PMPI_Itoy_c(", "PMPI_Toy_init_c(",
                                      "PMPIX_Toy_init("],
    "mpi/preload/functions.c": [f"int {name}(" for name in (
        "MPI_Toy", "MPI_Itoy", "MPIX_Toy_init", "PMPIX_Toy_init", "MPI_Toy_c", "MPI_Itoy_c", "MPI_Toy_init",
        "MPI_Toy_init_c",
        "MPI_Toyv", "MPI_Itoyv", "MPIX_Toyv_init", "MPI_Toyv_c", "MPI_Itoyv_c", "MPI_Toyv_init", "MPI_Toyv_init_c")],
    "mpi/preload/fortran_functions.c": ["mpi_toy_(", "SPELLINGS(mpi_toy, MPI_TOY)", "SPELLINGS(mpi_itoy, MPI_ITOY)",
                                        "SPELLINGS(mpi_toyv, MPI_TOYV)", "SPELLINGS(mpi_itoyv, MPI_ITOYV)"],
    "mpi/component/module_functions.c": [f"module->coll_{name} = call_{name};" for name in (
        "toy", "itoy", "toy_init", "toyv", "itoyv", "toyv_init")],
}
with tempfile.TemporaryDirectory() as folder:
    generate.generate(pathlib.Path(folder))
    texts = {str(path.relative_to(folder)): path.read_text(encoding="utf-8")
             for path in pathlib.Path(folder).rglob("*.[ch]")}
faults = [f"{file} lacks {text}" for file, wanted in EXPECTED.items() for text in wanted if text not in texts[file]]
faults += [f"{file}: the line has more than 120 characters: {line}" for file, text in texts.items()
           for line in text.splitlines() if len(line) > 120]
faults += [f"the table of docs/drop-in.md lacks {text}" for text in ("| `MPI_Toy` | yes", ", `MPI_Toyv` | counted")
           if text not in generate.table()]
print("\n".join(f"bindings: {fault}" for fault in faults), end="\n" if faults else "")
sys.exit(1 if faults else 0)
