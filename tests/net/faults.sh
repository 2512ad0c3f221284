#!/usr/bin/env bash
# A job with a fault: faults.sh RANKS PROGRAM WHAT. All ranks except one that dies must end with status 0, in time, and
# report the same sentence.
set -u
here=$(dirname "$0")
export LSAN_OPTIONS="suppressions='$here/faults.supp':print_suppressions=0"
[ "$3" != sleeps ] || export TRIVANCE_TIMEOUT=500ms
output=$(timeout 200 "$here/launch.sh" "$@" 2>&1)
code=$?
echo "$output"
expected=0
[ "$3" != killed ] || expected=137
[ $code -eq $expected ] || { echo "faults.sh: the exit status is $code, not $expected"; exit 1; }
[ "$(sed -n 's/^rank [0-9]*: //p' <<< "$output" | sort -u | wc -l)" -le 1 ] ||
    { echo "faults.sh: the ranks report different sentences"; exit 1; }
# The flight recorder of a rank whose timeout expires.
[ "$3" != sleeps ] || grep -qzP "trivance: the latest collectives of rank \d of comm 0\.0 \(4 ranks, 4\)[^\n]*:\ntrivance:   call \d+: allreduce" <<< "$output" ||
    { echo "faults.sh: the recorder printed nothing"; exit 1; }
