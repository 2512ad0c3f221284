#!/usr/bin/env bash
# The main job: AllReduce on 9 MPI ranks as a ring of 9 and as a 3x3 torus, by every algorithm, every result checked;
# then the plan of Trivance on 9 ranks, drawn. Usage: demo.sh [build folder [byte sizes]]
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
bytes=${2:-8,64,512,4KiB,32KiB,256KiB,4MiB}
. scripts/mpi-environment.sh
trivance=$build/bin/trivance

echo "AllReduce on 9 MPI ranks, by every algorithm at seven sizes; this takes about a minute on two cores."
mpirun.openmpi -n 9 "$trivance" bench --torus 9,3x3 --algorithm all --bytes "$bytes"
echo
"$trivance" plan 9 --algorithm trivance-l
