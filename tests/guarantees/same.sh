#!/usr/bin/env bash
# Runs a command twice, and compares what it prints. Usage: same.sh COMMAND…
set -eu
first=$(mktemp) second=$(mktemp)
trap 'rm -f "$first" "$second"' EXIT
"$@" > "$first"
"$@" > "$second"
cat "$first"
grep -q '^identical: ' "$first" || { echo "same.sh: the program prints no hash"; exit 1; }
cmp "$first" "$second"
