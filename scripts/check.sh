#!/usr/bin/env bash
# Runs the tests of one of two tiers. Usage: check.sh quick|exhaustive [build folder]; JOBS is the number of parallel
# tests.
#
# quick: the tests labelled quick, in the normal build (gcc, -O2).
#
# exhaustive: everything else, in stages. A stage that fails does not stop the later ones.
#   normal      the tests labelled exhaustive, in the same build
#   comma       tests of MPI, libtrivance_net, PyTorch and Python in a locale with a decimal comma
#   tidy        clang-tidy on src/, with the checks of .clang-tidy
#   address     the tests labelled quick or sanitized, under AddressSanitizer and UndefinedBehaviorSanitizer (clang,
#               warnings are errors)
#   thread      the threaded tests under ThreadSanitizer, those of the MPI layer with both MPIs
#   valgrind    in-process runs under memcheck
#
# Exit status: 0 if all passed, 1 if not, 2 for wrong usage. The logs are in <build folder>/check/.
set -u -o pipefail
cd "$(dirname "$0")/.."
tier=${1:-}
build=${2:-build}
jobs=${JOBS:-$(nproc)}
logs=$build/check
. scripts/mpi-environment.sh
# ccache, where it is installed, serves every clone and, by its environment, the builds that tests make.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
! command -v ccache > /dev/null || export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache

failed=""
began=$SECONDS

# stage NAME COMMAND…: runs a stage, writes its log, and reports the result.
stage() {
    local name=$1 start=$SECONDS
    shift
    echo "==== $name"
    if "$@" 2>&1 | tee "$logs/$name.log" | filter_log; then
        echo "---- $name: passed in $((SECONDS - start)) s"
    else
        failed="$failed $name"
        echo "---- $name: FAILED after $((SECONDS - start)) s; see $logs/$name.log"
    fi
    echo
}

# Removes the progress lines of CTest and Ninja; on a terminal shows the number of build steps instead.
filter_log() {
    local line clear=""
    while IFS= read -r line; do
        case $line in
        "["*/*"] "*)
            [ ! -t 1 ] || { printf '\r%s ' "${line%%]*}]"; clear=$'\r\033[K'; }
            ;;
        "" | "-- "* | " "*"Start "* | "Test project"* | "ninja: no work"* | "Internal ctest"* | "Label Time"* | *"sec*proc"*) ;;
        *)
            printf '%s%s\n' "$clear" "$line"
            clear=""
            ;;
        esac
    done
    printf %s "$clear"
}

# configure FOLDER CMAKE-OPTION…
configure() {
    cmake -S . -B "$1" -G Ninja "${@:2}"
}

# compile FOLDER CMAKE-OPTION…: configures and builds
compile() {
    configure "$@" && cmake --build "$1" -j "$jobs"
}

# run_tests FOLDER CTEST-OPTION…: runs tests, and appends the skipped ones with their reasons to the file skipped.
run_tests() {
    ctest --test-dir "$1" -j "$jobs" --output-on-failure --no-tests=error --output-junit check.xml "${@:2}"
    local status=$?
    # The reason is the last line that the test printed.
    python3 -c '
import sys, xml.etree.ElementTree as tree
for case in tree.parse(sys.argv[1]).iter("testcase"):
    if case.find("skipped") is not None:
        lines = case.findtext("system-out", "").strip().splitlines() or ["no reason given"]
        print(" ", case.get("name") + ":", lines[-1].split("skipped: ")[-1])' "$1/check.xml" >> "$logs/skipped"
    return $status
}

# Every program of these tests, also those that the tests start, begins with the locale that tests/comma.c selects.
comma() {
    local folder
    folder=$(realpath "$build") && mkdir -p "$folder/locale" || return
    [ -d "$folder/locale/de_DE.UTF-8" ] || localedef -i de_DE -f UTF-8 "$folder/locale/de_DE.UTF-8" || return
    local -x LOCPATH=$folder/locale LD_PRELOAD=$folder/tests/libcomma.so
    run_tests "$build" -R '^test_(settings|parse|hybrid|full_names)$' &&
        run_tests "$build" -L 'quick|torch' -L 'mpi|net|preload|python|torch' \
        -LE soak -E 'figures|cables\.(order|ports|unplugged)|torch_(faults\.|old|backend2)'
}

address() {
    compile build-address -DCMAKE_C_COMPILER=clang -DTRIVANCE_SANITIZE=address -DTRIVANCE_WERROR=ON \
        -DTRIVANCE_EXPLORER=OFF || return
    # A small quarantine of freed memory halves the time of tests that allocate often. MPI libraries keep memory until
    # the process ends; leaks of Trivance are reported nevertheless. For the tool, leak detection takes longer than its
    # work, and its leaks are harmless, so its tests (cli) run without leak detection.
    local options=quarantine_size_mb=16
    ASAN_OPTIONS=$options LSAN_OPTIONS="suppressions='$PWD/scripts/lsan.supp':print_suppressions=0" \
        run_tests build-address -L 'quick|sanitized' -LE 'install|readme|cli'
    local status=$?
    ASAN_OPTIONS=$options:detect_leaks=0 run_tests build-address -L 'quick|sanitized' -L cli && return $status
}

thread() {
    configure build-thread -DCMAKE_C_COMPILER=clang -DTRIVANCE_SANITIZE=thread -DTRIVANCE_EXPLORER=OFF &&
        cmake --build build-thread -j "$jobs" --target \
            test_compare test_execute_threads test_planner_threads test_reports_threads test_requests_threads embed \
            soak_threaded || return
    run_tests build-thread -R 'threads|^test_compare$' -E '^test_execute_threads$' && # its exhaustive form has all of its cases
        build-thread/examples/embed
}

# Only programs that are fast enough under valgrind; together they create, prove, cost and run schedules.
memcheck() {
    printf '%s\n' examples/schedule examples/embed tests/test_{cost,windows,schedule,torus,execute,reject} \
        tests/cli/test_parse | xargs -P "$jobs" -I {} bash -c '
            echo "valgrind {}"
            output=$(valgrind --quiet --error-exitcode=1 --leak-check=full --errors-for-leak-kinds=definite \
                "$0/{}" 2>&1) || { echo "valgrind {} failed:"; echo "$output"; exit 1; }' "$build"
}

case $tier in
quick) command="make check" ;;
exhaustive) command="make check-all" ;;
*)
    echo "usage: check.sh quick|exhaustive [build folder], for example check.sh quick build" >&2
    exit 2
    ;;
esac
mkdir -p "$logs"
rm -f "$logs"/*.log "$logs/skipped"
benchmarks=OFF
[ $tier = quick ] || benchmarks=ON
stage build compile "$build" -DTRIVANCE_BENCH=$benchmarks
[ -z "$failed" ] || exit 1
if [ $tier = quick ]; then
    stage quick run_tests "$build" -L quick
else
    stage normal run_tests "$build" -L exhaustive
    stage comma comma
    stage tidy scripts/tidy.sh "$build"
    stage address address
    stage thread thread
    stage valgrind memcheck
fi
if [ -s "$logs/skipped" ]; then
    echo "Skipped:"
    cat "$logs/skipped"
fi
if [ -n "$failed" ]; then
    echo "$command: FAILED:$failed (after $((SECONDS - began)) s)"
    exit 1
fi
tests=$(sed -n 's/.* tests passed, .* out of \([0-9]*\)$/\1/p' "$logs"/*.log |
    awk '{ n += $1 } END { print n }')
echo "$command: passed in $((SECONDS - began)) s; $tests tests, skipped ones included"
