#!/usr/bin/env bash
# Runs the benchmarks of bench/, one after another. Usage: bench.sh [build folder]
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
. scripts/mpi-environment.sh

"$build"/bench/plan
echo
"$build"/bench/reduce
echo
"$build"/bench/simulate
echo
"$build"/bench/sources

# Runs mpirun with this number of ranks; if each has a core of its own, waiting ranks need not yield it.
ranks_of() { # MPI RANKS COMMAND…
    local yield=1
    [ "$2" -gt "$(nproc)" ] || yield=0
    OMPI_MCA_mpi_yield_when_idle=$yield mpirun.$1 -n "$2" "${@:3}"
}
for mpi in openmpi mpich; do
    [ -x "$build/bench/warm.$mpi" ] || continue
    for ranks in 2 3; do
        echo
        ranks_of $mpi $ranks "$build/bench/warm.$mpi"
    done
    library=$build/src/mpi/preload/libtrivance_pmpi_$mpi.so
    echo
    ranks_of $mpi 2 env LD_PRELOAD="$library" "$build/bench/dropin.$mpi"
    for ranks in 2 3; do
        echo
        ranks_of $mpi $ranks env LD_PRELOAD="$library" TRIVANCE_TORUS=$ranks "$build/bench/dropin.$mpi"
    done
done
