#!/usr/bin/env bash
# Runs the benchmarks of bench/, one after the other. Usage: bench.sh [build folder]
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
. scripts/mpi-environment.sh

"$build"/bench/plan
echo
"$build"/bench/reduce
echo
"$build"/bench/simulate
for mpi in openmpi mpich; do
    [ -x "$build/bench/overhead.$mpi" ] || continue
    for ranks in 2 3; do
        echo
        mpirun.$mpi -n $ranks "$build/bench/overhead.$mpi"
    done
done
