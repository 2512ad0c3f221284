#!/usr/bin/env bash
# A new algorithm (toy.c, and its line in algorithms/lines.h) is available everywhere in the tool without further
# changes.
# Usage: plugin.sh TOOL SOURCES
set -u -o pipefail
tool=$1 sources=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
code=0

expect() { # PATTERN ARGUMENT…: expects a line in the output of `trivance ARGUMENT…`
    local pattern=$1
    shift
    "$tool" "$@" > "$folder/out" || { echo "plugin: 'trivance $*' fails"; code=1; }
    has "$pattern" "$@"
}

has() { # PATTERN ARGUMENT…: expects another line in the same output
    local pattern=$1
    shift
    grep -qE -- "$pattern" "$folder/out" || { echo "plugin: 'trivance $*' has no line with: $pattern"; code=1; }
}

expect '^toy  .*2m \(n-1\)/n  .*exact  .*yes  .*translation' list
expect '^  also    toy:both$' list
expect '^5x7 .* toy  .* exact  .* yes ' verify 5x7 --algorithm=all
expect '^2,toy,8x8,.*,true$' cost --paper --format=csv # its closed form equals the measured cost
expect '^toy  .* 1\.750 .* 2\.000$' cost 8 --algorithm=all
expect '"algorithm": "toy", .*"error": null' simulate 8x8 --algorithm=all --bytes=1K --format=json
expect '^toy:both .*[0-9] us ' plan 3x3 --bytes=64M --why # its candidate for the planner …
has '^toy  .*[0-9] us ' plan 3x3 --bytes=64M --why        # … and its family
expect ' at  .*  toy$' plan 4 --all-sizes
export PYTHONPATH=$sources/python PYTHONDONTWRITEBYTECODE=1 # the package, with the library beside the tool
TRIVANCE_LIBRARY=$(dirname "$tool")
export TRIVANCE_LIBRARY
if [ -d "$sources/research" ]; then
    PYTHONPATH=$PYTHONPATH:$sources/research
    expect '1 figure' figures --quick --only=6 --model=fifo --out="$folder/evaluation"

    written() { # PATTERN FILE: expects a line in a file written by `trivance figures`
        grep -qE -- "$1" "$folder/evaluation/$2" || { echo "plugin: $2 has no line with: $1"; code=1; }
    }
    written '"baselines":\["Bruck","Swing","Recursive Doubling","Bucket","Toy"\]' index.html
    written '"key":"toy","title":"Toy","colour":6' index.html
    written '^6,8,,,toy,toy,' figures/figure-06.csv
fi

# The explorer's page is generated from this list (explorer/wasm); its sources contain no algorithm's name.
expect '"name": "toy", .*"family": "toy", .*"baseline": true, "colour": 6' list --format=json
python3 - "$folder/out" "$sources"/explorer/page/*.js $(ls "$sources"/research/trivance_research/figures/page.js 2> /dev/null) << 'END' || code=1
import json, re, sys
names = {word for one in json.load(open(sys.argv[1])) for word in (one["name"], one["family"])}
named = [f"plugin: {file} names {word}" for file in sys.argv[2:]
         for word in re.findall(r"['\"`]([a-z-]+)['\"`]", open(file, encoding="utf-8").read()) if word in names - {"trivance", "line", "ring"}] # also the tool and networks
print("\n".join(named))
sys.exit(bool(named))
END
exit $code
