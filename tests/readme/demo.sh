#!/usr/bin/env bash
# The output of scripts/demo.sh fits a terminal (60 lines of 100 columns), and each of its four parts contains its
# announced results. Usage: demo.sh SOURCE BUILD
set -u
source=$1 build=$2
output=$(mktemp)
trap 'rm -f "$output"' EXIT

fail() { cat "$output"; echo "demo.sh: $*"; exit 1; }

"$source/scripts/demo.sh" "$build" > "$output" 2>&1 || fail "scripts/demo.sh failed"
[ "$(wc -l < "$output")" -le 58 ] || fail "more than 58 lines; make demo itself prints two"
[ "$(LC_ALL=C.UTF-8 wc -L < "$output")" -le 100 ] || fail "a line has more than 100 columns"
[ "$(grep -c '^trivance-l \|  trivance-l \|^trivance-l-grouped' "$output")" -ge 2 ] || fail "algorithms are missing"
grep -q '✓' "$output" || fail "no marks"
[ "$(sed -n '2,/^2\./p' "$output" | grep -c '✗')" = 1 ] || fail "a result is wrong" # only the legend's mark
grep -qE '^[a-z-]+ +[0-9.]+ +[0-9.]+  [a-z-]+ +[0-9.]+ +[0-9.]+  ' "$output" || fail "no ranking at three sizes"
grep -qE '^trivance: comm 1 \(9 ranks, 3x3\), .* \(planned:' "$output" || fail "the log has no reason for a decision"
grep -q '▶●\|->o' "$output" || fail "no drawing" # ASCII in a locale without UTF-8
