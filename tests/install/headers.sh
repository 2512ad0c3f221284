#!/usr/bin/env bash
# Every public header compiles on its own, as strict C11 and C++17, with each of its initializers, and states its
# stability. Since C++20 values may follow the initializers.
# Usage: headers.sh SOURCE BUILD CC CXX
set -eu
source=$1 build=$2
shift
strict=(-Wall -Wextra -pedantic-errors -Werror -Wno-unused-command-line-argument -fsyntax-only "-I$source/include" "-I$build/bindings")

# Prints the definition of a variable for each initializer of a header.
initializers() { # HEADER
    sed -e ':join' -e '/\\$/{N;s/ *\\\n *//;b join' -e '}' "$1" | sed -nE \
        -e "s/^#define (TRV_\w+) *(TRV_SIZED\w*\((\w+).*)/extern \3 of_\1; \3 of_\1 = {\1};/p" \
        -e "s/^#define (TRV_\w+) *\{(TRV_SIZED\w*\((\w+).*)/extern \3 of_\1; \3 of_\1 = \1;/p"
}

count=0
for header in "$source"/include/trivance/*.h "$build"/bindings/trivance/*.h; do
    [ -e "$header" ] || continue # without MPI
    name=trivance/$(basename "$header")
    [ "$name" = trivance/trivance.h ] || grep -qE '^ \* Stability: (stable|experimental)\.$' "$header" ||
        { echo "headers: $name does not state its stability"; exit 1; }
    if [ "$name" = trivance/trivance_mpi.h ]; then
        command -v mpicc.openmpi > /dev/null || continue
        # the wrapper without the settings of the caller; it adds libraries, and its header has casts that g++ warns of
        c="env OMPI_CFLAGS= OMPI_CC=$2 mpicc.openmpi" cxx="env OMPI_CXXFLAGS= OMPI_CXX=$3 mpicxx.openmpi"
    else
        c=$2 cxx=$3
    fi
    body=$(printf '#include <%s>\nextern int declared;\n' "$name"; initializers "$header")
    count=$((count + $(grep -c ' of_TRV_' <<< "$body" || true)))
    $c -std=c11 -x c "${strict[@]}" - <<< "$body"
    $cxx -std=c++17 -x c++ "${strict[@]}" -Wno-cast-function-type - <<< "$body"
done
[ $count -ge 14 ] || { echo "headers: found only $count initializers"; exit 1; }
echo '#include <trivance/net.h>
trv_net_options_t options = {TRV_NET_OPTIONS, .ranks = 4};' | $3 -std=c++20 -x c++ "${strict[@]}" -Wno-missing-field-initializers -
