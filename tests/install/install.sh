#!/usr/bin/env bash
# Installs into a temporary prefix, moves it elsewhere (the tree is relocatable), and there compiles and runs the
# examples: by pkg-config with the shared and the static library, and by CMake. Usage: install.sh SOURCE BUILD
set -eu -o pipefail
source=$1 build=$2
. "$source/scripts/mpi-environment.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/first" > "$work/log"
prefix="$work/second place"
mv "$work/first" "$prefix"
libdir=$(dirname "$(find "$prefix" -name libtrivance.so)")
export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
cd "$work"

echo "== files"
for file in bin/trivance share/man/man1/trivance.1 share/bash-completion/completions/trivance share/doc/trivance/LICENSE include/trivance/trivance.h; do
    [ -e "$prefix/$file" ] || { echo "install: $file is missing"; exit 1; }
done
[ "$(pkg-config --modversion trivance)" = "$("$prefix/bin/trivance" --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+')" ]
# The files for pkg-config and CMake contain neither the path of the build folder nor the first prefix.
! grep -rlE "$build|$work/first" "$libdir/pkgconfig" "$libdir/cmake"

compile() { # COMPILER SOURCE OUTPUT MODULE [--static]
    local -a words
    eval "words=($(pkg-config --cflags --libs ${5-} "$4"))"
    $1 -std=c11 -Wall -Wextra -Wpedantic -Werror "$source/examples/$2.c" "${words[@]}" -pthread -o "$3"
}

echo "== pkg-config"
for example in schedule embed; do
    compile cc $example $example trivance
    ./$example > $example.out
    readelf -d $example | grep -q 'NEEDED.*libtrivance.so.0'
done

echo "== formats"
cat > formats.c << 'END'
#include <trivance/algorithms.h>
#include <trivance/formats.h>

int main(void)
{
    trv_torus_t torus;
    trv_schedule_t *schedule;
    const trv_draw_options_t options = {TRV_DRAW_OPTIONS};
    return trv_torus_parse("9", &torus) || trv_schedule_create(&schedule, &torus, "trivance-l", TRV_ALLREDUCE) ||
           trv_draw_svg(schedule, &options, stdout) || trv_export(schedule, TRV_FORMAT_GOAL, 1000, 0, NULL, NULL, stdout);
}
END
eval "cc -std=c11 -Wall -Wextra -Wpedantic -Werror formats.c $(pkg-config --cflags --libs trivance-formats) -o formats"
./formats > formats.out
grep -q '</svg>' formats.out && grep -q 'num_ranks 9' formats.out

if [ -x /usr/bin/python3 ] && /usr/bin/python3 -c 'import numpy' 2> /dev/null; then
    echo "== Python"
    packages=$(dirname "$(find "$prefix" -path '*/trivance/__init__.py')")
    (unset LD_LIBRARY_PATH; PYTHONPATH=${packages%/trivance} /usr/bin/python3 "$source/tests/python/installed.py" "$prefix")
fi

echo "== static"
rm -rf "$work/static" && cp -a "$prefix" "$work/static"
find "$work/static" \( -name 'libtrivance.so*' -o -name 'libtrivance_formats.so*' \) -delete
( libdir=${libdir/second place/static}
  export PKG_CONFIG_PATH=$libdir/pkgconfig
  unset LD_LIBRARY_PATH
  compile cc embed embed-static trivance --static && ./embed-static
  eval "cc formats.c $(pkg-config --cflags --libs --static trivance-formats) -o formats-static"
  ./formats-static | cmp - formats.out )

echo "== CMake"
cmake -S "$source/examples" -B cmake -DCMAKE_PREFIX_PATH="$prefix" > /dev/null
cmake --build cmake > /dev/null
./cmake/schedule | cmp - schedule.out
./cmake/embed

for mpi in openmpi mpich; do
    [ -e "$libdir/libtrivance_mpi_$mpi.so" ] || { echo "== $mpi: not built, skipped"; continue; }
    echo "== $mpi"
    compile mpicc.$mpi allreduce_mpi allreduce_mpi.$mpi trivance-mpi-$mpi
    TRIVANCE_TORUS=2x2 mpirun.$mpi -n 4 ./allreduce_mpi.$mpi
    mpirun.$mpi -n 3 ./cmake/allreduce_mpi.$mpi
    mpirun.$mpi -n 3 "$prefix/bin/trivance" bench --bytes 8,1000 --algorithm trivance
    # Preload the library into a program that is itself linked to Trivance; LD_PRELOAD accepts no path with a blank.
    "$work/static/bin/trivance" run --torus 3 -- mpirun.$mpi -n 3 ./cmake/allreduce_mpi.$mpi
    ! "$prefix/bin/trivance" run --torus 3 -- mpirun.$mpi -n 3 ./cmake/allreduce_mpi.$mpi
done
