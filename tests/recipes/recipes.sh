#!/usr/bin/env bash
# Follows recipes of CONTRIBUTING.md in a copy of the sources: adds a parameter of networks (toy-time), an option of
# export (--toys), an export format (toy), a Python function (toy_name) and a collective (toy, an AllGather by another
# name), and looks for them everywhere.
# Usage: recipes.sh SOURCES
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
export CCACHE_BASEDIR=$PWD

# Inserts the text of stdin before or after the first line of a file that contains LINE.
edit() { # FILE before|after LINE
    python3 -c '
import sys
path, where, line = sys.argv[1:]
lines = open(path, encoding="utf-8").read().split("\n")
at = next((i for i, text in enumerate(lines) if line in text), None)
if at is None:
    sys.exit(f"recipes: {path} has no line with: {line}")
at += where == "after"
lines[at:at] = sys.stdin.read().rstrip("\n").split("\n")
open(path, "w", encoding="utf-8").write("\n".join(lines))' "$@"
}

# A network parameter
edit include/trivance/simulate.h before 'double gamma_small_ns;' <<< '    double toy_time_ns; /* of a toy, >= 0 */'
edit src/parameters/parameters.c before '{.name = "jitter",' << 'END'
    {.name = "toy-time", TIME(toy_time_ns, 1), .affects = PLANS | TRV_STATED_RESULTS, .value = "TIME",
     USUAL("0ns", "time of a toy", ")"),
     .summary = ", toys of %s ns"},
END

# An option
edit src/cli/cmd_export.c after 'enum { OPTION_ALPHA' <<< 'enum { OPTION_TOYS = OPTION_UNCHECKED + 1 };'
edit src/cli/cmd_export.c before '{"output",' <<< '    {"toys", OPTION_TOYS, "N", "number of toys", NULL},'
sed -i 's/"format bytes alpha unchecked output"/"format bytes alpha unchecked output toys"/' src/cli/cmd_export.c
edit src/cli/cmd_export.c before "case 'o':" << 'END'
    case OPTION_TOYS: fprintf(stderr, "%s toys\n", optarg); return TRV_OK;
END

# An export format
sed -i 's/^    TRV_FORMAT_CHAKRA /    TRV_FORMAT_CHAKRA, /' include/trivance/formats.h
edit include/trivance/formats.h before '} trv_format_t;' <<< '    TRV_FORMAT_TOY /* the number of ranks */'
printf '%s\n' '#include "formats/toy.h"' '#include <trivance/schedule.h>' \
    'int trv_toy_write(const trv_schedule_t *schedule, FILE *out)' \
    '{ return fprintf(out, "%d toys\n", trv_schedule_torus(schedule)->ranks) < 0; }' > src/formats/toy.c
printf '%s\n' '#include <stdio.h>' '#include <trivance/schedule.h>' \
    'int trv_toy_write(const trv_schedule_t *schedule, FILE *out);' > src/formats/toy.h
edit src/formats/front/files.c after '#include "formats/schedule_file.h"' <<< '#include "formats/toy.h"'
edit src/formats/front/files.c before 'case TRV_FORMAT_MSCCLPP:' \
    <<< '    case TRV_FORMAT_TOY: return trv_toy_write(schedule, out);'
edit src/cli/cmd_export.c after 'formats[] = {{"goal"' \
    <<< '                                   {"toy", TRV_FORMAT_TOY, .plan = false},'
sed -i 's/"goal mscclpp chakra"/"goal mscclpp chakra toy"/' src/cli/cmd_export.c
sed -i -e 's/^FORMATS = (/FORMATS = ("toy", /' -e 's/^_CODES = {/_CODES = {"toy": 4, /' python/trivance/schedule.py

# A Python function
sed -i 's/"""last_error, version,/"""last_error, order_name i, version,/' python/trivance/_library.py
edit python/trivance/planner.py before 'def find_algorithm' << 'END'
def toy_name(order: int = 0) -> str:
    """The name of an order of nodes."""
    return L.lib.order_name(order).decode()


END
sed -i -e 's/^from .planner import Algorithm,/& toy_name,/' -e 's/^    "format_bytes",/    "toy_name", &/' \
    python/trivance/__init__.py

# A collective, of which `linear` is the algorithm, and libtrivance_net a front end
sed -i 's/^    TRV_ALLTOALL$/    TRV_ALLTOALL, TRV_TOY/' include/trivance/schedule.h
edit src/schedule/collective.h after '[TRV_ALLTOALL] =' \
    <<< '    [TRV_TOY] = {"toy", "Toy", false, false, TRV_OWNER, TRV_EVERY_RANK},'
sed -i 's/^    .collectives = TRV_TREE_COLLECTIVES |/& 1U << TRV_TOY |/' src/algorithms/linear.c
sed -i -e 's/ scatter gather alltoall"/&" toy"/' -e 's/gather or alltoall"/gather, alltoall or toy"/' src/cli/shared/select.h
sed -i 's/^BLOCKED = (/&"toy", /' python/trivance/_library.py
edit include/trivance/net.h before 'TRV_API int trv_net_alltoall(' << 'END'
TRV_API int trv_net_toy(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type);
END
edit src/net/collective.c before 'int trv_net_alltoall(' << 'END'
int trv_net_toy(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type)
{
    return collective_run(comm, movement(TRV_TOY, 0, input, output, count, type));
}

END

for file in include/trivance/{simulate,formats,schedule,net}.h src/parameters/parameters.c src/cli/cmd_export.c \
    src/schedule/collective.h src/algorithms/linear.c src/cli/shared/select.h src/net/collective.c \
    src/formats/front/files.c python/trivance/{schedule,planner,__init__,_library}.py; do
    ! cmp -s "$file" "$sources/$file" || { echo "recipes: $file has no place for the addition any more"; exit 1; }
done
off=(-DTRIVANCE_TESTS=OFF -DTRIVANCE_MPI=OFF -DTRIVANCE_EXPLORER=OFF -DTRIVANCE_TORCH=OFF -DTRIVANCE_BENCH=OFF)
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-Werror "${off[@]}" > "$folder/log" 2>&1 ||
    { tail -n 20 "$folder/log"; exit 1; }
cmake --build build -j 2 --target trivance man trivance_shared trivance_formats trivance_net >> "$folder/log" ||
    { tail -n 20 "$folder/log"; exit 1; }
tool=build/bin/trivance

has() { # PATTERN FILE: expects a line in a file
    grep -qE -- "$1" "$2" || { echo "recipes: $2 has no line with: $1"; code=1; }
}

expect() { # PATTERN ARGUMENT…: expects a line in the output of `trivance ARGUMENT…`
    local pattern=$1
    shift
    "$tool" "$@" > out || { echo "recipes: 'trivance $*' fails"; code=1; }
    grep -qE -- "$pattern" out || { echo "recipes: 'trivance $*' has no line with: $pattern"; code=1; }
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

# The option and the format
expect '--toys=N +number of toys' export --help
has 'number of toys' build/man/trivance-export.1
has '--toys' build/completions/trivance
expect '^9 toys$' export 9 --format=toy
"$tool" export 9 --format=toy --toys=5 > out 2> errors || code=1
has '^5 toys$' errors

# The collective: list, proof, simulation, plan, help, completion, export, rejection of other algorithms
expect '^toy ' list --collectives
expect 'linear' list --collective=toy
expect '^3x3 +linear:8 +toy +exact ' verify 3x3 --collective=toy --algorithm=linear:8
expect '^Toy on the torus 3x3' simulate 3x3 --collective=toy --algorithm=linear:8 --bytes=9K
expect '^linear.* Toy of 9 KiB' plan 3x3 --collective=toy --bytes=9K --messages-per-port=unlimited
expect 'alltoall or toy' plan --help
has 'alltoall toy' build/completions/trivance
expect 'num_ranks 9' export 3x3 --collective=toy --algorithm=linear:8 --bytes=9K --format=goal
! "$tool" simulate 3x3 --collective=toy --algorithm=bucket --bytes=9K > out 2> errors || code=1
has 'Toy|toy' errors
nm -D --defined-only build/src/net/libtrivance_net.so > symbols
has ' trv_net_toy' symbols

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
    "function": tv.toy_name() == "snake", "export": tv.Schedule("ring", "8").export("toy") == "8 toys\n",
    "collective": tv.Schedule("linear:8", "3x3", "toy").verify().exact,
    "plan": ring.plan("1K").time > 0, "address": "toy-time=1500ns" in address(ring, 64)}
print("".join(f"recipes: Python lacks its {what}\n" for what, there in found.items() if not there), end="")
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
    echo "recipes: node is not installed; the explorer's field is not examined"
fi
exit $code
