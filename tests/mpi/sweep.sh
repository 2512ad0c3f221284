#!/usr/bin/env bash
# A sweep on several ranks: it has the same rows as on one machine and continues after a kill; a failure of any rank
# ends all ranks.
# Usage: sweep.sh LAUNCHER TOOL
# Without TEST_EXHAUSTIVE a sample: the rows of three ranks, and failures of one rank.
set -u
exhaustive=${TEST_EXHAUSTIVE:-}
launcher=$1 tool=$2
failures=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
grid=(--torus=3x3,8,5x5 --bytes=32:256K:x8 --alpha=1us,1.5us)

# sweep RANKS ARGUMENTS…
sweep() { timeout 60 "$launcher" -n "$1" "$tool" sweep "${@:2}" > out 2> err; }

fail() {
    echo "FAILED: $1"
    echo "--- stdout"; cat out; echo "--- stderr"; cat err
    failures=$((failures + 1))
}

# rows FILE: the rows of a file, sorted, without the sixteenth column, wall_s.
rows() { cut -d, -f1-15,17- "$1" | sort; }

# same FILE: the file has the rows of the sweep on one machine.
same() { diff <(rows alone.csv) <(rows "$1") > out 2> err || fail "$1 has other rows"; }

# bad WORDS RANKS ARGUMENTS…: exit code 2, one sentence with WORDS.
bad() {
    local words=$1 code
    shift
    sweep "$@"
    code=$?
    [ $code = 2 ] || fail "sweep $* exits $code, not 2"
    [ "$(grep -c '^trivance sweep: ' err)" = 1 ] || fail "sweep $*: not one sentence"
    grep -q -F -- "$words" err || fail "sweep $*: does not contain '$words'"
}

"$tool" sweep "${grid[@]}" -o alone.csv > out 2> err || fail "the sweep without ranks exits $?"
points=$(($(wc -l < alone.csv) - 1))

sweep 3 "${grid[@]}" -o three.csv || fail "the sweep on 3 ranks exits $?"
grep -q "has all $points points" out || fail "the sweep on 3 ranks does not report its points"
same three.csv
# The simulator rejects a path of more than an hour, whichever rank simulates the point.
bad "1 hour" 3 "${grid[@]}" --link-latency=100ns,3600s -o hours.csv
[ "$(tail -c 1 hours.csv | wc -l)" = 1 ] || fail "a failure leaves a torn line"
# Only errors: exit code 1, from all ranks.
sweep 3 --torus=3x3 --algorithm=ring -o errors.csv
code=$?
[ $code = 1 ] && grep -q "no point has a result" err || fail "a sweep of errors exits $code, not 1"
ln -s /dev/full full.csv
bad "No space left on device" 3 "${grid[@]}" -o full.csv
if [ -z "$exhaustive" ]; then
    [ $failures = 0 ] && echo "all as expected"
    exit $((failures > 0))
fi

sweep 1 "${grid[@]}" -o one.csv --workers=2 || fail "the sweep on 1 rank exits $?"
same one.csv

# The file of a killed sweep, with an incomplete line.
head -c 2500 three.csv > torn.csv
sweep 2 "${grid[@]}" -o torn.csv || fail "taking up a torn file exits $?"
same torn.csv

# From a file on rank 0, to stdout.
echo '{"torus": "3x3", "algorithm": "ring,trivance", "bytes": 64}' > grid.json
sweep 2 grid.json --format=csv || fail "the sweep of a description exits $?"
grep -q '^3x3,trivance-l,64,' out && grep -q '^3x3,ring,64,.*,,,,ring,"ring supports' out || fail "rows are missing"
sweep 2 --help || fail "--help exits $?"
[ "$(grep -c '^Usage: ' out)" = 1 ] || fail "--help is not printed once"

sweep 2 --torus=3x3 --dry-run -o dry.csv || fail "--dry-run exits $?"
[ "$(grep -c '^[0-9]* points ' out)" = 1 ] && [ ! -e dry.csv ] || fail "--dry-run does more than count the points once"

bad "did you mean --torus?" 3 --tours=8
bad "cannot be written" 3 "${grid[@]}" -o /nonexistent/out.csv

[ $failures = 0 ] && echo "all as expected"
exit $((failures > 0))
