#!/usr/bin/env bash
# A project that fetches Trivance with FetchContent gets the core, and neither tests, benchmarks, examples, programs nor
# installation rules; it needs no jansson, no MPI and no libfabric. Usage: embed.sh SOURCE
set -eu -o pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir app
cp "$source/examples/schedule.c" app/program.c
cat > app/CMakeLists.txt << END
cmake_minimum_required(VERSION 3.18)
project(app LANGUAGES C)
enable_testing()
include(FetchContent)
FetchContent_Declare(trivance SOURCE_DIR "$source")
FetchContent_MakeAvailable(trivance)
foreach(library trivance trivance_static)
  add_executable(with_\${library} program.c)
  target_link_libraries(with_\${library} PRIVATE trivance::\${library})
endforeach()
install(TARGETS with_trivance)
END

# With this variable pkg-config finds no library at all.
export PKG_CONFIG_LIBDIR=$work/nothing
unset PKG_CONFIG_PATH
cmake -S app -B build -G Ninja -DCMAKE_BUILD_TYPE=None > log # without optimisation
cmake --build build -j 2 >> log
for program in build/with_trivance build/with_trivance_static; do
    "$program" > out
    [ -s out ]
    ! ldd "$program" | grep -E 'jansson|libmpi|fabric|pmix|hwloc' || { echo "embed: $program needs more than the core"; exit 1; }
done

ctest --test-dir build -N | grep -q 'Total Tests: 0' || { echo "embed: the project has tests of Trivance"; exit 1; }
targets=$(ninja -C build -t targets all)
for file in bin/trivance libtrivance_formats libtrivance_net libtrivance_mpi tests/ bench/ examples/; do
    ! grep -F "/$file" <<< "$targets" || { echo "embed: the project builds $file of Trivance"; exit 1; }
done
cmake --install build --prefix "$work/installed" >> log
[ "$(find installed -type f | wc -l)" = 1 ] || { find installed -type f; echo "embed: Trivance is installed, too"; exit 1; }

# The core alone can also be installed; tests need more than that.
cmake -S "$source" -B core -G Ninja -DCMAKE_BUILD_TYPE=None -DTRIVANCE_TOOL=OFF >> log
cmake --build core -j 2 >> log
cmake --install core --prefix "$work/prefix" >> log
cat > app/CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.18)
project(app LANGUAGES C)
find_package(trivance 0.3 REQUIRED)
add_executable(program program.c)
target_link_libraries(program PRIVATE trivance::trivance)
END
cmake -S app -B second -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" >> log
cmake --build second >> log
second/program > out
! cmake -S "$source" -B wrong -DTRIVANCE_TOOL=OFF -DTRIVANCE_TESTS=ON > out 2>&1
grep -q 'TRIVANCE_TESTS=ON needs more than the core' out
