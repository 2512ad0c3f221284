#!/usr/bin/env bash
# A new parameter of networks, toy-time, is added to a copy of the sources as CONTRIBUTING.md describes: a member of the
# struct and a row of the table. Everything that has parameters must have it. Usage: parameter.sh SOURCES
set -eu -o pipefail
sources=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
code=0
mkdir "$folder/copy"
for part in CMakeLists.txt cmake include src testbed explorer examples python docs scripts; do
    cp -r "$sources/$part" "$folder/copy/"
done
cd "$folder/copy"

sed -i 's|^    double gamma_small_ns;|    double toy_time_ns; /* of a toy, >= 0 */\n&|' include/trivance/simulate.h
sed -i 's|^    {.name = "jitter",|    {.name = "toy-time", TIME(toy_time_ns, 1), .affects = PLANS \| TRV_STATED_RESULTS, .value = "TIME",\n     USUAL("0ns", "time of a toy", ")"),\n     .summary = ", toys of %s ns"},\n&|' \
    src/parameters/parameters.c
for file in include/trivance/simulate.h src/parameters/parameters.c; do
    ! cmp -s "$file" "$sources/$file" || { echo "parameter: $file has no place for a parameter any more"; exit 1; }
done
off=(-DTRIVANCE_TESTS=OFF -DTRIVANCE_MPI=OFF -DTRIVANCE_EXPLORER=OFF -DTRIVANCE_TORCH=OFF -DTRIVANCE_BENCH=OFF)
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-Werror "${off[@]}" > "$folder/log" 2>&1 ||
    { tail -n 20 "$folder/log"; exit 1; }
cmake --build build -j 2 --target trivance man trivance_shared trivance_formats >> "$folder/log" ||
    { tail -n 20 "$folder/log"; exit 1; }
tool=build/bin/trivance

has() { # PATTERN FILE: expects a line in a file
    grep -qE -- "$1" "$2" || { echo "parameter: $2 has no line with: $1"; code=1; }
}

expect() { # PATTERN ARGUMENT…: expects a line in the output of `trivance ARGUMENT…`
    local pattern=$1
    shift
    "$tool" "$@" > out || { echo "parameter: 'trivance $*' fails"; code=1; }
    grep -qE -- "$pattern" out || { echo "parameter: 'trivance $*' has no line with: $pattern"; code=1; }
}

# The tool: help, man pages, completion, values, results, profiles
for command in simulate plan; do
    expect '--toy-time=TIME +time of a toy \(default 0ns\)' $command --help
    has 'toy.*time.*TIME' build/man/trivance-$command.1
    has 'time of a toy' build/man/trivance-$command.1
done
has '--toy-time' build/completions/trivance
expect 'toys of 1500 ns' simulate 8 --algorithm=ring --bytes=1K --toy-time=1.5us
expect '"toy_time_ns": 1500' simulate 8 --algorithm=ring --bytes=1K --toy-time=1.5us --format=json
expect '^torus,.*,toy_time_ns,.*' sweep --torus=8 --algorithm=ring --bytes=1K --toy-time=1us,2us --format=csv
expect 'toy-time +TIME +0ns +yes +time of a toy' list --parameters
echo '{"format": "trivance-network-1", "parameters": {"toy-time": {"value": "3us", "source": "a test"}}}' > toy.json
expect 'toys of 3000 ns' simulate 8 --algorithm=ring --bytes=1K --network=./toy.json
! "$tool" simulate 8 --algorithm=ring --bytes=1K --toy-time=3 > out 2> errors || code=1
has "--toy-time: '3' is not a time" errors

# Python: keyword argument, default, type, docstring, value, profile
PYTHONPATH=build/python PYTHONDONTWRITEBYTECODE=1 python3 - << 'END' || code=1
import inspect
import sys

import trivance as tv
from trivance._explorer import address

keyword = inspect.signature(tv.Network).parameters["toy_time"]
ring = tv.Network("8", toy_time="1.5us")
found = {
    "default": keyword.default == "0ns", "type": "float" in keyword.annotation,
    "docstring": "toy_time : float (s) or str\n        Time of a toy (default 0ns)." in tv.Network.__doc__,
    "text and number": ring == tv.Network("8", toy_time=1.5e-6) != tv.Network("8"),
    "options": ring.options["toy_time"] == "1.5us" and "toy_time='1.5us'" in repr(ring),
    "profile": tv.Network.from_profile("8", "./toy.json") == tv.Network("8", toy_time="3us"),
    "plan": ring.plan("1K").time > 0, "address": "toy-time=1500ns" in address(ring, 64)}
print("".join(f"parameter: Python lacks its {what}\n" for what, there in found.items() if not there), end="")
sys.exit(not all(found.values()))
END

# The explorer: a field of the page's state, which becomes an option
if command -v node > /dev/null; then
    mkdir page && cp explorer/page/*.js explorer/page/package.json page/
    sed -i -E "s#from 'explorer:([a-z-]+)'#from './from-\1.js'#" page/*.js
    for list in algorithms: collectives:--collectives parameters:--parameters; do
        { echo 'export default'; "$tool" list ${list#*:} --format=json; } > "page/from-${list%:*}.js"
    done
    { echo 'export default'; cat src/formats/front/profiles/tofu-d.json; } > page/from-tofu-d.js
    echo "import { networkOptions, readHash, writeHash } from './state.js';
        const { state, problem } = readHash('#torus=8&toy-time=3us');
        console.log(problem, networkOptions(state).join(' '), writeHash(state));" > page/test.js
    node page/test.js > out || code=1
    has '^null --toy-time=3us #torus=8&toy-time=3us$' out
else
    echo "parameter: node is not installed; the explorer's field is not examined"
fi
exit $code
