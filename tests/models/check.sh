#!/usr/bin/env bash
# Checks a model: what must hold is proved, and each planted error is found. Usage: check.sh readiness|agreement [CC]
set -eu -o pipefail
model=$1 compiler=${2:-cc}
source=$(cd "$(dirname "$0")" && pwd)/$model.pml
if ! command -v spin > /dev/null; then
    echo "models: skipped, there is no spin here (Debian package spin)"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
code=0

# Searches all states of the model with these macros; what spin says is in `said`. Memory and depth have bounds, and a
# search that reaches one proves nothing.
search() { # MACRO…
    local began=$SECONDS
    { spin -a "${@/#/-D}" "$source" && "$compiler" -w -O1 -DSAFETY -DMEMLIM=1024 -o pan pan.c; } > said 2>&1 ||
        { cat said; exit 1; }
    ./pan -n -b -m10000 > said 2>&1 || true
    took=$((SECONDS - began))
}

proved() { # MACRO…
    search "$@"
    if grep -q 'errors: 0$' said && ! grep -qE 'not completed|reached -DMEMLIM|too small' said; then
        echo "proved:  $model $*: $(sed -n 's/^ *\([0-9]*\) states, stored$/\1/p' said) states, $took s"
    else
        echo "models: $model $* does not hold, or was not searched to the end:"
        cat said
        code=1
    fi
}

refuted() { # WHAT-SPIN-SAYS (a regular expression) MACRO…
    local expected=$1
    shift
    search "$@"
    if grep -q 'errors: 1$' said && [ -s "$model.pml.trail" ] && grep -qE "^pan:1: $expected" said; then
        echo "refuted: $model $*: $(sed -n 's/^pan:1: *//p' said)"
    else
        echo "models: spin does not find '$expected' in $model $*:"
        cat said
        code=1
    fi
    rm -f "$model.pml.trail"
}

hang="invalid end state"
early="assertion violated .content.*chunk\[me\]"       # a reduction without its messages, or with others
overwritten="assertion violated .content.*==255"       # a buffer whose reduction is due
changed="assertion violated .*late"                    # what is being sent
entry="assertion violated .*ready_stage.*ready_generation"
twice="assertion violated .*completed"
readiness() {
    proved RANKS=2 LANES=2 CHUNKS=3
    proved RANKS=3 LANES=1 CHUNKS=3
    local two="RANKS=2 LANES=2 CHUNKS=3" three="RANKS=3 LANES=1 CHUNKS=3"
    refuted "$early" $two MUTANT_GENERATION_UNCHECKED
    refuted "$early" $two MUTANT_BITS_NOT_SET
    refuted "$early" $three MUTANT_ONE_SIDE
    refuted "$early" $two MUTANT_SHARED_TAG
    refuted "$entry" $three MUTANT_WRONG_PARITY
    refuted "$overwritten" $three MUTANT_ONE_BUFFER
    refuted "$changed" $three MUTANT_SENDS_NOT_AWAITED
    refuted "$twice" $two MUTANT_NEXT_CHUNK
    refuted "$hang" $three MUTANT_POSTED_OUT_OF_ORDER
    refuted "$hang" $three MUTANT_SENDS_LAST
}

alone="assertion violated .*came.*meeting"             # members in different exchanges
differ="assertion violated .*agreed"                   # members with different results
same="assertion violated .*number.*!=n"                # two communicators of a process under one number
stale="assertion violated .*message/2"                 # a message of another communicator or call
endless="assertion violated .n>refused"
lost="assertion violated .*owner"                      # a number that nobody has and nobody can have
agreement() {
    proved NUMBERS
    proved MEMORY
    proved FAILURES
    proved FAILURES REUSE_BROKEN
    refuted "$differ" NUMBERS MUTANT_NOT_CONFIRMED
    refuted "$same" NUMBERS MUTANT_NOT_LOCKED
    refuted "$endless" NUMBERS MUTANT_NOT_REMEMBERED
    refuted "$lost" NUMBERS MUTANT_PROPOSAL_KEPT
    refuted "$stale" NUMBERS MUTANT_FREED_EARLY
    refuted "$hang" MEMORY MUTANT_LEAVES_ALONE
    refuted "$alone" FAILURES MUTANT_MPI_ALONE
    refuted "$hang" FAILURES MUTANT_NO_EMPTY_MESSAGE
    refuted "$hang" FAILURES MUTANT_STOPS_RECEIVING
    refuted "$stale" FAILURES ALWAYS_COPIED REUSE_BROKEN MUTANT_STOPS_RECEIVING
    refuted "$hang" FAILURES MUTANT_BROKEN_RETURNS
    refuted "$hang" FAILURES MUTANT_BROKEN_STAYS_AWAY
    refuted "$hang" FAILURES MUTANT_BROKEN_LEAVES_MPI
}

case $model in
readiness | agreement) "$model" ;;
*) echo "models: there is no model '$model'" >&2; exit 2 ;;
esac
exit $code
