#!/usr/bin/env bash
# Every public header compiles on its own, as strict C11 and as C++, and states its stability. Usage: headers.sh SOURCE
set -eu
source=$1
strict=(-Wall -Wextra -Wpedantic -Werror -fsyntax-only "-I$source/include")
for header in "$source"/include/trivance/*.h; do
    name=trivance/$(basename "$header")
    [ "$name" = trivance/trivance.h ] || grep -qE '^ \* Stability: (stable|experimental)\.$' "$header" ||
        { echo "headers: $name does not state its stability"; exit 1; }
    if [ "$name" = trivance/trivance_mpi.h ]; then
        c="mpicc.openmpi" cxx="mpicxx.openmpi"
        command -v $c > /dev/null || continue
        export OMPI_CFLAGS= # the defaults of the MPI's compiler wrapper, without the caller's settings
    else
        c="cc" cxx="c++"
    fi
    printf "#include <%s>\nextern int declared; /* a translation unit is not empty */\n" "$name" | $c -std=c11 -x c "${strict[@]}" -
    echo "#include <$name>" | $cxx -std=c++11 -x c++ "${strict[@]}" -Wno-cast-function-type -
done
