#!/usr/bin/env bash
# Every test there is. Usage: check.sh [build folder]; JOBS says how many at a time.
#
#   normal      every test, with both MPIs, as users build it (gcc, -O2)
#   tidy        clang-tidy on src/, with the checks of .clang-tidy
#   address     the same once more, the largest tori and the most ranks left out, under AddressSanitizer and
#               UndefinedBehaviorSanitizer (clang, warnings are errors)
#   thread      the threaded tests under ThreadSanitizer, those of the MPI layer with both MPIs
#   valgrind    in-process runs under memcheck
#
# A stage that fails does not stop the later ones. Exit status 0 if all passed; logs stay in <build folder>/check/.
set -u -o pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
jobs=${JOBS:-$(nproc)}
logs=$build/check
mkdir -p "$logs"
. scripts/mpi-environment.sh

failed=""
began=$SECONDS

# stage NAME COMMAND…: runs a stage, keeps its log, says how it went.
stage() {
    local name=$1 start=$SECONDS
    shift
    echo "==== $name"
    if "$@" 2>&1 | tee "$logs/$name.log" | closing_lines; then
        echo "---- $name: passed in $((SECONDS - start)) s"
    else
        failed="$failed $name"
        echo "---- $name: FAILED after $((SECONDS - start)) s; all of it is in $logs/$name.log"
    fi
    echo
}

# What is worth seeing of a log: results, failures with their output, ctest's closing lines; not the build.
closing_lines() { grep --line-buffered -v -E '^ +Start +[0-9]+|^\[[0-9]+/[0-9]+\] |^-- |^Test project|^ninja: no work|^$' || true; }

# compile FOLDER CMAKE-OPTION…
compile() {
    local folder=$1
    shift
    cmake -S . -B "$folder" -G Ninja "$@" && cmake --build "$folder" -j "$jobs"
}

run_tests() { ctest --test-dir "$1" -j "$jobs" --output-on-failure "${@:2}"; }

normal() { compile "$build" && run_tests "$build"; }

address() {
    compile build-address -DCMAKE_C_COMPILER=clang -DTRIVANCE_SANITIZE=address -DTRIVANCE_WERROR=ON \
        -DTRIVANCE_BENCH=OFF -DTRIVANCE_EXPLORER=OFF || return
    # MPI libraries keep memory until the process ends; what is ours is reported all the same.
    LSAN_OPTIONS=suppressions=$PWD/scripts/lsan.supp:print_suppressions=0 \
        run_tests build-address -LE 'large|install|readme'
}

thread() {
    cmake -S . -B build-thread -G Ninja -DCMAKE_C_COMPILER=clang -DTRIVANCE_SANITIZE=thread -DTRIVANCE_BENCH=OFF \
        -DTRIVANCE_EXPLORER=OFF &&
        cmake --build build-thread -j "$jobs" --target \
            test_execute_threads test_planner_threads test_reports_threads embed soak_threaded || return
    run_tests build-thread -R threads --no-tests=error && build-thread/examples/embed
}

# The programs that are quick enough; together they make, prove, cost and run schedules.
memcheck() {
    printf '%s\n' examples/schedule examples/embed tests/test_{cost,windows,schedule,torus,execute,reject} \
        tests/cli/test_parse | xargs -P "$jobs" -I {} bash -c '
            echo "valgrind {}"
            said=$(valgrind --quiet --error-exitcode=1 --leak-check=full --errors-for-leak-kinds=definite \
                "$0/{}" 2>&1) || { echo "valgrind {} fails:"; echo "$said"; exit 1; }' "$build"
}

echo "Every test, in five stages: normal, tidy, address, thread and valgrind; about half an hour on two cores."
stage normal normal
stage tidy scripts/tidy.sh "$build"
stage address address
stage thread thread
stage valgrind memcheck

if [ -n "$failed" ]; then
    echo "make check: FAILED:$failed (after $((SECONDS - began)) s)"
    exit 1
fi
tests=$(sed -n 's/.* tests passed, .* out of \([0-9]*\)$/\1/p' "$logs"/*.log | awk '{ n += $1 } END { print n }')
echo "make check: everything passed: $tests tests and the valgrind runs, in $((SECONDS - began)) s"
