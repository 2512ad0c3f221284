#!/usr/bin/env bash
# Checks a model: spin must prove the statements and refute every mutant. See docs/models.md.
# Usage: check.sh readiness|agreement [SCENARIO] [CC]
#   SCENARIO   context_ids, memory or failures of the agreement model; all (default) for the whole model
set -eu -o pipefail
model=$1 scenario=${2:-all} compiler=${3:-cc}
source=$(cd "$(dirname "$0")" && pwd)/$model.pml
if ! command -v spin > /dev/null; then
    echo "skipped: spin is not installed (Debian package spin)"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
code=0

# Searches all states of the model with these macros; the output of spin is in the file `spin.log`. Memory and depth are
# limited, and a search that reaches a limit proves nothing. The search for a mutant ends after some thousand states:
# optimizing the verifier and clearing a large hash table would take longer, so neither is done.
search() { # OPTIMIZATION LOGARITHM-OF-TABLE MACRO…
    local began=$SECONDS optimization=$1 table=$2
    shift 2
    { spin -a "${@/#/-D}" "$source" && "$compiler" -w "$optimization" -DSAFETY -DMEMLIM=1024 -o pan pan.c; } \
        > spin.log 2>&1 || { cat spin.log; exit 1; }
    ./pan -n -b -m10000 "-w$table" > spin.log 2>&1 || true
    took=$((SECONDS - began))
}

proved() { # MACRO…
    search -O1 24 "$@"
    if grep -q 'errors: 0$' spin.log && ! grep -qE 'not completed|reached -DMEMLIM|too small' spin.log; then
        echo "proved:  $model $*: $(sed -n 's/^ *\([0-9]*\) states, stored$/\1/p' spin.log) states, $took s"
    else
        echo "models: $model $* does not hold, or was not searched to the end:"
        cat spin.log
        code=1
    fi
}

refuted() { # PATTERN-OF-SPIN'S-OUTPUT (a regular expression) MACRO…
    local expected=$1
    shift
    search -O0 20 "$@"
    if grep -q 'errors: 1$' spin.log && [ -s "$model.pml.trail" ] && grep -qE "^pan:1: $expected" spin.log; then
        echo "refuted: $model $*: $(sed -n 's/^pan:1: *//p' spin.log)"
    else
        echo "models: spin does not find '$expected' in $model $*:"
        cat spin.log
        code=1
    fi
    rm -f "$model.pml.trail"
}

hang="invalid end state"
early="assertion violated .content.*chunk\[me\]"       # a reduction before its messages arrived, or with others
overwritten="assertion violated .content.*==255"       # a buffer is overwritten before it is reduced
changed="assertion violated .*late"                    # a buffer changes while it is being sent
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

alone="assertion violated .*entered.*exchange"         # members in different exchanges
differ="assertion violated .*agreed"                   # members with different results
same="assertion violated .*context_id.*!=n"            # two communicators of a process with one context id
stale="assertion violated .*message=="                 # a message of another communicator or call
endless="assertion violated .n>rejected"
lost="assertion violated .*owner"                      # a context id that no rank has and none can take
agreement_context_ids() {
    proved CONTEXT_IDS
    refuted "$differ" CONTEXT_IDS MUTANT_NOT_CONFIRMED
    refuted "$same" CONTEXT_IDS MUTANT_NOT_LOCKED
    refuted "$endless" CONTEXT_IDS MUTANT_NOT_REMEMBERED
    refuted "$lost" CONTEXT_IDS MUTANT_PROPOSAL_KEPT
    refuted "$stale" CONTEXT_IDS MUTANT_FREED_EARLY
}
agreement_memory() {
    proved MEMORY
    refuted "$hang" MEMORY MUTANT_EXCHANGE_SKIPPED
}
agreement_failures() {
    proved FAILURES
    refuted "$alone" FAILURES MUTANT_FALLBACK_ALONE
    refuted "$differ" FAILURES MUTANT_VOTE_IGNORED
    refuted "$stale" FAILURES MUTANT_BROKEN_REUSED
}

case $model.$scenario in
readiness.all) readiness ;;
agreement.context_ids | agreement.memory | agreement.failures) "agreement_$scenario" ;;
agreement.all) agreement_context_ids && agreement_memory && agreement_failures ;;
*) echo "models: there is no model '$model' with a scenario '$scenario'" >&2; exit 2 ;;
esac
exit $code
