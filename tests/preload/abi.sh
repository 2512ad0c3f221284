#!/usr/bin/env bash
# Builds the preload library for the standard ABI of MPI against a stand-in (abi.py), because Debian 12 has no library
# with this ABI, and checks that preload libraries and `trivance run` distinguish programs with it from others.
# Usage: abi.sh SOURCES BUILD MPI_PROTO_H
set -eu -o pipefail
sources=$1 build=$2 work=$2/tests/preload/abi
fail() { echo "abi: $*"; exit 1; }
rm -rf "$work"
python3 "$sources/tests/preload/abi.py" "$3" "$work/mpi"
cc -shared -fPIC -Wl,-soname,libmpi_abi.so.0 -o "$work/mpi/libmpi_abi.so.0" "$work/mpi/mpi_abi.c"
ln -s libmpi_abi.so.0 "$work/mpi/libmpi_abi.so"
cmake -S "$sources" -B "$work/build" -G Ninja -DTRIVANCE_WRAPPER_abi="$work/mpi/mpicc_abi" -DTRIVANCE_TESTS=OFF \
    -DCMAKE_BUILD_TYPE=None > "$work/log"
cmake --build "$work/build" -j 2 --target trivance_pmpi_abi >> "$work/log" || { tail -40 "$work/log"; exit 1; }
! grep -A3 'warning:' "$work/log" || fail "the compiler warns"

cat > "$work/program.c" << 'END'
#include <stdio.h>
#include <mpi.h>
int main(int argc, char **argv)
{
    printf("MPI_Init returns %d\n", MPI_Init(&argc, &argv));
    return 0;
}
END
cc -I"$work/mpi" -o "$work/program" "$work/program.c" -L"$work/mpi" -Wl,-rpath,"$work/mpi" -lmpi_abi
abi=$work/build/src/mpi/preload/libtrivance_pmpi_abi.so
# The stand-in's functions return MPI_ERR_OTHER, 16; MPI_Init comes from the preload library and passes it on.
[ "$(LD_PRELOAD=$abi "$work/program")" = "MPI_Init returns 16" ] || fail "a program with the ABI"
nm -D --defined-only "$abi" | grep ' T MPI_Allreduce_c\(@\|$\)' > /dev/null || fail "the library has no MPI_Allreduce_c"

expect() { # TEXT COMMAND…
    local text=$1 code=0
    shift
    "$@" > "$work/out" 2>&1 || code=$?
    [ $code = 2 ] && grep -qF "$text" "$work/out" || fail "$*: status $code: $(cat "$work/out")"
}
for mpi in openmpi mpich; do
    library=$build/src/mpi/preload/libtrivance_pmpi_$mpi.so
    [ ! -e "$library" ] || expect "preload libtrivance_pmpi_abi.so" env LD_PRELOAD="$library" "$work/program"
    program=$build/examples/allreduce_mpi.$mpi
    [ ! -e "$program" ] || expect "preload libtrivance_pmpi_$mpi.so" env LD_LIBRARY_PATH="$work/mpi" LD_PRELOAD="$abi" "$program"
done
expect "libtrivance_pmpi_abi.so is not in" "$build/bin/trivance" run --torus=2 -- mpirun -n 2 "$work/program"
rm -rf "$work"
