#!/usr/bin/env bash
# The choice of algorithms as users set it and see it: rules, wrong values, lines and tables of TRIVANCE_DEBUG, files
# per process, and tune. Usage: selection.sh LAUNCHER PROGRAM TRIVANCE-MPI
# Without TEST_EXHAUSTIVE a sample: the rules, the table of calls, and rules that tune has written.
set -u
exhaustive=${TEST_EXHAUSTIVE:-}
launcher=$1 program=$2 tool=$3
failures=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=$work/out

ranks=4
# run NAME=VALUE… -- ARGUMENTS…: stores the output of the ranks in $out and their exit code in $code.
run() {
    local -a settings=()
    while [ "$1" != -- ]; do settings+=("$1"); shift; done
    shift
    env "${settings[@]}" "$launcher" -n $ranks "$@" > "$out" 2>&1
    code=$?
}

fail() { echo "FAILED: $1"; cat "$out"; failures=$((failures + 1)); }
# lines COUNT PATTERN: COUNT lines match PATTERN.
lines() { [ "$(grep -c -E -- "$2" "$out")" = "$1" ] || fail "not $1 lines like: $2"; }
good() { [ $code = 0 ] || fail "$1: exit code $code"; }

run TRIVANCE_FALLBACK=silent -- "$program" "$work"
good "rules"

run TRIVANCE_DEBUG=info TRIVANCE_TORUS=2x2 TRIVANCE_TUNE='allreduce:0-64:@mpi' TRIVANCE_ALPHA=1s TRIVANCE_ALGORTHM=x \
    TRIVANCE_DEBUG_FILE="$work/none/log.%p" -- "$program" calls
good "info, and files that cannot be written"
lines 1 'TRIVANCE_DEBUG_FILE: the file .*/none/log\.[0-9]+. cannot be written'
lines 1 '^trivance: comm 1 \(4 ranks, 2x2\), allreduce up to 4 KiB, float sum: [a-z0-9:/-]+ \(planned: .*; a tie with [^ ]+ in time and steps'
lines 1 '^trivance: comm 1 .* allreduce up to 8 B, float sum: mpi \(a rule of TRIVANCE_TUNE selects the'
lines 1 '^trivance:   allreduce +[a-z0-9:/-]+ +4 +16000 +-$'
lines 1 '^trivance:   allreduce +mpi +1 +8 +-  a rule of TRIVANCE_TUNE'
lines 1 'warning: unknown variable TRIVANCE_ALGORTHM; did you mean TRIVANCE_ALGORITHM\?$'

run TRIVANCE_DEBUG=info -- "$program" requests
good "requests"
lines 1 '^trivance:   allreduce +mpi +20 +- +-  no blocking call of this kind and size class came first$'

# Times that are equal in all printed digits: the difference is printed in its own unit.
ranks=6
run TRIVANCE_DEBUG=info TRIVANCE_TORUS=6 TRIVANCE_ALPHA=100ms TRIVANCE_BANDWIDTH=8Gb/s -- "$program" calls
good "times that hardly differ"
lines 1 ', allreduce up to 4 KiB, float sum: .*; [a-z0-9:-]+ would take [0-9.]+ us longer'
ranks=4

finish() {
    [ $failures = 0 ] && echo "all as expected"
    exit $((failures > 0))
}

if [ -z "$exhaustive" ]; then
    ranks=2
    run -- "$tool" tune --torus 2 --bytes 8 --time 100ms -o "$work/rules.json" --collective allreduce
    good "tune"
    run TRIVANCE_TORUS=2 TRIVANCE_RULES_FILE="$work/rules.json" -- "$program" calls tuned
    good "the rules of tune"
    lines 0 '^trivance'
    finish
fi

printf '{"rule_file_version": 1,\n "collectives": {"allreduce": [{"rules": [{"alg": "x"}]}]}}' > "$work/wrong.json"
run TRIVANCE_RULES_FILE="$work/wrong.json" -- "$program" calls
good "a wrong rules file"
lines 1 "^trivance: warning: TRIVANCE_RULES_FILE: .*/wrong.json:2:44: there is no algorithm 'x'"
lines 1 '^trivance'

run TRIVANCE_RULES_FILE="$work/wrong.json" TRIVANCE_FALLBACK=error -- "$program" calls
[ $code != 0 ] || fail "TRIVANCE_FALLBACK=error: exit code 0"
lines 1 '^trivance: TRIVANCE_RULES_FILE: .* TRIVANCE_FALLBACK=error ends the program$'

run TRIVANCE_TORUS=2x2 TRIVANCE_DEBUG=trace TRIVANCE_DEBUG_FILE="$work/log.%h.%p" TRIVANCE_ALPHA=0ns -- "$program" calls
good "trace"
lines 0 '^trivance'
[ "$(ls "$work"/log."$(hostname)".* | wc -l)" = 4 ] || fail "not four files"
[ "$(cat "$work"/log.* | grep -c 'allreduce of 4000 bytes: [a-z0-9:/-]*$')" = 16 ] || fail "not 16 calls in the files"

run -- "$tool" tune --torus 2x2 --bytes 8 --time 100ms --collective allreduce -o "$work/rules.json"
good "tune with two neighbours"
grep -Eq '"network": \{.*, "message_overhead": "[0-9]+\.[0-9]ns"\}' "$work/rules.json" || fail "no overhead"
launched=$launcher launcher=$work/one_core ranks=9 # on a busy machine tune must still end in time
printf '#!/bin/sh\nexec taskset -c 0 %s "$@"\n' "$launched" > "$launcher"
chmod +x "$launcher"
start=$SECONDS
run -- "$tool" tune --torus 3x3 --time 2s -o "$work/rules.json"
good "tune on one core"
[ $((SECONDS - start)) -le 60 ] || fail "--time 2s took $((SECONDS - start)) s"
lines 1 '^trivance tune: warning: 9 ranks share a core'
lines 1 'measured on a busy machine$'
grep -Eq '"measured": \{"ranks_per_core": 9, .*, "busy": true\}' "$work/rules.json" || fail "the rules do not say busy"
run -- "$tool" bench --bytes 64 --format=json
good "bench on one core"
lines 1 '^trivance bench: warning: 9 ranks share a core'
lines 1 '"ranks_per_core": 9.0, "busy": true'
launcher=$launched ranks=2
run -- "$tool" tune --torus 2 --bytes 8,64K --time 3s -o "$work/rules.json" --collective allreduce,allgather
good "tune"
lines 4 '^(allreduce|allgather) +(8 B|64 KiB) +mpi '
[ "$(grep -c '"comm_size_min": 2, "comm_size_max": 2, "torus": "2"' "$work/rules.json")" = 8 ] || fail "no rules for 2"
grep -q '"network": {.*, "message_overhead": "0.0ns"}' "$work/rules.json" || fail "an overhead with one neighbour"
run TRIVANCE_TORUS=2 TRIVANCE_RULES_FILE="$work/rules.json" -- "$program" calls
good "the rules of tune"
lines 0 '^trivance'

# Every collective, each size once: blocks of at least one element per rank make 1 and 16 bytes the same size in five.
ranks=4
run -- "$tool" tune --torus 2x2 --bytes 1,16,4K --time 10s -o "$work/rules.json"
good "tune of all collectives"
lines 8 '^[a-z-]+ +4 KiB +mpi '
lines 8 '^[a-z-]+ +16 B +mpi '
lines 3 '^[a-z-]+ +4 B +mpi '
run TRIVANCE_TORUS=2x2 TRIVANCE_RULES_FILE="$work/rules.json" -- "$program" calls
good "the rules of all collectives"
lines 0 '^trivance'
ranks=2

# bad WORDS ARGUMENTS…: exit code 2 and one sentence.
bad() {
    local words=$1
    shift
    run -- "$tool" tune "$@"
    [ $code = 2 ] || fail "tune $*: exit code $code, not 2"
    lines 1 '^trivance tune: '
    grep -q -F -- "$words" "$out" || fail "tune $*: does not say '$words'"
}
bad "must be the number of ranks" --torus 3x3
bad "at least 1 byte" --bytes 0
bad "cannot be written" -o /nonexistent/rules.json
bad "from 100ms to 86400s" --time 1ms
ranks=4
run TRIVANCE_TORUS=3x -- "$program" calls
good "a wrong torus"
lines 1 "^trivance: warning: TRIVANCE_TORUS: '3x' is not a torus"
run TRIVANCE_TORUS=2x2 TRIVANCE_ALGORITHM=ring TRIVANCE_FALLBACK=print -- "$program" calls
good "an algorithm that does not support the torus"
lines 1 '^trivance: warning: TRIVANCE_ALGORITHM: ring supports only rings, .* calls fall back to the MPI library$'
run TRIVANCE_TORUS=3x3 TRIVANCE_ALGORITHM=trivance TRIVANCE_FALLBACK=print -- "$program" calls
good "a torus that does not fit"
lines 1 '^trivance: warning: .*TRIVANCE_TORUS=3x3'
finish
