#!/usr/bin/env bash
# One row of the table in docs/drop-in.md: one rank differs from the others.
# Usage: ranks.sh ROW INTERFACE LAUNCHER LIBRARY OTHER PROGRAM MEMORY FAILING VARIABLES
#   INTERFACE  api, drop-in or component
#   LIBRARY    the preload library, the component's folder, or none; OTHER: the same from a build with another version,
#              for the API a program of that build
#   MEMORY     the program whose allocations fail, FAILING the library that makes them fail
#   VARIABLES  lists the variables
# No job may last longer than two minutes (it takes a second where the machine is idle), and the program itself compares
# the results. Differences that arise after MPI_Init are tested in one job, a situation of program.c each.
set -u
. "$(dirname "$0")/../../scripts/mpi-environment.sh"
row=$1 interface=$2 launcher=$3 library=$4 other=$5 program=$6 memory=$7 failing=$8 variables=$9
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/here" "$work/there"
export RANKS_WORK=$work RANKS_INTERFACE=$interface RANKS_LIBRARY=$library RANKS_OTHER=$other
cd "$work/here" || exit 1

fail() {
    echo "ranks.sh $row $interface: $*"
    cat "$work/log"
    cat "$work"/rank-log.* 2> "$work/none"
    exit 1
}

# The command of every rank: sets its variables, then those of all ranks, and runs the program with the library. Words
# up to the first -- are for rank $RANKS_ODD only, those up to the second for all other ranks, those up to the third for
# all ranks. A variable without = is removed. @other: that rank has the other version; @none: it has no library; @there:
# it runs in another folder.
cat > "$work/rank" <<'END'
odd=() others=() all=()
for list in odd others all; do
    declare -n words=$list
    while [ "$1" != -- ]; do words+=("$1"); shift; done
    shift
done
[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}" = "$RANKS_ODD" ] && own=("${odd[@]}") || own=("${others[@]}")
mine=$RANKS_LIBRARY
for word in "${all[@]}" "${own[@]}"; do
    case $word in
        @other) mine=$RANKS_OTHER ;;
        @none) mine=none ;;
        @there) cd "$RANKS_WORK/there" || exit 1 ;;
        *=*) export "$word" ;;
        *) unset "$word" ;;
    esac
done
case $RANKS_INTERFACE in
    api) [ "$mine" = none ] || { shift; set -- "$mine" "$@"; } ;;
    component) export OMPI_MCA_mca_base_component_path=$mine:SYSTEM_DEFAULT ;;
    *) [ "$mine" = none ] || export LD_PRELOAD=${LD_PRELOAD:+$LD_PRELOAD:}$mine ;;
esac
exec "$@"
END

# start ODD-RANK WORD… -- WORD… -- WORD… -- PROGRAM…: the exit status is $code.
ranks=4
start() {
    local priority=()
    [ "$interface" = component ] && priority=(--mca coll_trivance_priority 60)
    export RANKS_ODD=$1
    shift
    rm -f "$work"/rank-log.*
    timeout 120 "$launcher" -n $ranks "${priority[@]}" bash "$work/rank" "$@" > "$work/log" 2>&1 < /dev/null
    code=$?
    [ $code != 124 ] || fail "it hangs: $*"
}

# run: as start; the job must succeed, without wrong results.
run() {
    start "$@"
    [ $code = 0 ] && grep -q ', 0 wrong$' "$work/log" || fail "exit code $code: $*"
}

# expect_line REGULAR-EXPRESSION: a line of the log matches; expect_no_line: the log has no such line.
expect_line() {
    grep -qE -e "$1" "$work/log" || fail "no line matches '$1'"
}
expect_no_line() {
    ! grep -qE -e "$1" "$work/log" || fail "a line matches '$1'"
}

# The report of a difference: one warning of the drop-in and the component, the error of all calls of the API.
differs() {
    expect_line "$1"
    if [ "$interface" = api ]; then
        expect_line '^calls: [0-9]+ right, [1-9][0-9]* errors' # some communicators are without that rank
    else
        expect_line 'warning: Trivance is disabled: .*; calls fall back to the MPI library'
        expect_line '^calls: [1-9][0-9]* right, 0 errors'
    fi
}

# expect_dispatched: Trivance executes the calls (those of the API always).
expect_dispatched() {
    expect_line '^[a-z]*: [1-9][0-9]* right, 0 errors'
    [ "$interface" = api ] || expect_line '^trivance:   MPI_All[a-z]* *[^ m]'
}
loud=TRIVANCE_DEBUG=info

case $row in
settings)
    # Every variable that must be the same on all ranks, set on one rank only. First all at once: the message names the
    # first and counts the others.
    words=()
    while read -r name kind example; do
        [ "$kind" = shared ] && words+=("$name=$example")
    done < <("$variables")
    [ ${#words[@]} -ge 10 ] || fail "no variables"
    run 3 "${words[@]}" -- -- -- "$program"
    differs "${words[0]%%=*} is '.*' on rank 3 and not set on rank 0; $((${#words[@]} - 1)) more variables differ"
    # The same one by one.
    for word in "${words[@]}"; do
        [ "$interface" = drop-in ] || break
        base=TRIVANCE_TORUS=2x2
        [[ $word != TRIVANCE_TORUS=* ]] || base=TRIVANCE_ALGORITHM=bucket
        run 2 "$word" -- -- $base -- "$program"
        differs "${word%%=*} is '.*' on rank 2 and not set on rank 0"
    done
    for torus in 4 2y; do
        run 2 TRIVANCE_TORUS=$torus -- TRIVANCE_TORUS=2x2 -- -- "$program"
        differs "TRIVANCE_TORUS is '$torus' on rank 2 and '2x2' on rank 0"
    done
    run 2 -- TRIVANCE_TORUS=2x2 -- -- "$program"
    differs "TRIVANCE_TORUS is not set on rank 2 and '2x2' on rank 0"
    run 0 TRIVANCE_TORUS=4 -- TRIVANCE_TORUS=2x2 -- -- "$program"
    differs "TRIVANCE_TORUS is '2x2' on rank 1 and '4' on rank 0; *|TRIVANCE_TORUS is '2x2' on rank 1"
    ;;
own-settings)
    # All variables that may differ, at once.
    words=()
    while read -r name kind example; do
        [ "$kind" = own ] && words+=("$name=$example")
    done < <("$variables")
    [ ${#words[@]} -ge 5 ] || fail "no variables"
    run 2 "${words[@]}" -- -- TRIVANCE_TORUS=2x2 $loud TRIVANCE_DEBUG_FILE= -- "$program"
    expect_no_line ' on rank '
    expect_dispatched
    run 2 TRIVANCE_MEMORY=1K -- -- TRIVANCE_TORUS=2x2 -- "$program"
    ;;
version)
    run 2 @other -- -- TRIVANCE_TORUS=2x2 -- "$program"
    differs "Trivance's version is '.*-other' on rank 2 and '.*' on rank 0"
    run 0 @other -- -- TRIVANCE_TORUS=2x2 -- "$program"
    differs "Trivance's version is '.*' on rank 1 and '.*-other' on rank 0"
    ;;
files)
    # The same names of files on all ranks, in different folders.
    echo '{"format": "trivance-topology-1", "torus": [2, 2], "ranks": [[0, 0], [0, 1], [1, 0], [1, 1]]}' > torus.json
    echo '{"rule_file_version": 1, "collectives": {"allreduce": [{"rules": [{"msg_size_min": 0, "alg": "bucket"}]}]}}' \
        > rules.json
    files="TRIVANCE_TOPOLOGY_FILE=torus.json TRIVANCE_RULES_FILE=rules.json"
    run 0 -- @there -- $files $loud -- "$program"
    expect_dispatched
    [ "$interface" = api ] || expect_line ': bucket \(a rule of TRIVANCE_RULES_FILE'
    run 0 @there -- -- TRIVANCE_TOPOLOGY_FILE=torus.json -- "$program"
    expect_line "torus.json"
    expect_line 'right, '
    run 0 @there -- -- TRIVANCE_TORUS=2x2 TRIVANCE_RULES_FILE=rules.json -- "$program"
    expect_line "rules.json"
    # The files of the other ranks are not read, whatever they contain.
    echo '{"format": "trivance-topology-1", "torus": [3]}' > "$work/there/torus.json"
    echo '{' > "$work/there/rules.json"
    run 0 -- @there -- $files $loud -- "$program"
    expect_dispatched
    run 0 @there -- -- TRIVANCE_TOPOLOGY_FILE=torus.json -- "$program"
    expect_line 'torus.json'
    # Other links have no effect: rank 0 broadcasts its links.
    begin='{"format": "trivance-topology-1", "torus": [4], "ranks": [[0], [1], [2], [3]], "links": ['
    echo "$begin"'{"from": [1], "port": "+0", "down": true}, {"from": [3], "port": "+0", "speed": 0.1}]}' > links.json
    echo "$begin"'{"from": [2], "port": "+0", "down": true}]}' > "$work/there/links.json"
    run 2 @there -- -- TRIVANCE_TOPOLOGY_FILE=links.json $loud -- "$program"
    expect_dispatched
    # Other coordinates have no effect: by the file of rank 0 the ranks are a set of nodes, by the other files a square.
    echo '{"format": "trivance-topology-1", "torus": [3, 3], "ranks": [[0, 1], [1, 0], [1, 2], [2, 1]]}' > nodes.json
    cp torus.json "$work/there/nodes.json"
    run 0 -- @there -- TRIVANCE_TOPOLOGY_FILE=nodes.json $loud -- "$program"
    expect_dispatched
    expect_line 'along 4 nodes of 3x3'
    ;;
nothing)
    # One rank has no variables: rank 2, then rank 0.
    for odd in 2 0; do
        run $odd -- TRIVANCE_TORUS=2x2 TRIVANCE_ALGORITHM=swing-b -- -- "$program"
        differs 'TRIVANCE_TORUS is .*not set on rank .*; 1 more variable differs|TRIVANCE_TORUS is not set on rank'
    done
    ;;
counts)
    # With TRIVANCE_CHECK: in the first call with an operation signature, with count 0 on one rank, with a count per
    # rank, and in a later call. Open MPI returns from calls with count 0 before it calls a component, and only the
    # drop-in has the function with a count per rank.
    situations=(counts)
    [ "$interface" = component ] || situations+=(counts-none)
    [ "$interface" != drop-in ] || situations+=(counts-unequal)
    run 2 -- -- TRIVANCE_TORUS=2x2 TRIVANCE_CHECK=1 -- "$program" "${situations[@]}" counts-later
    expect_line 'the count differs between ranks: from 990 elements of 4 bytes to 1000'
    expect_line '^counts: 0 right, 4 errors'
    if [ "$interface" != component ]; then
        expect_line 'the count differs between ranks: from 0 elements of 4 bytes to 1000'
        expect_line '^counts-none: 0 right, 4 errors'
    fi
    if [ "$interface" = drop-in ]; then
        expect_line 'the sizes of the blocks differ between ranks'
        expect_line '^counts-unequal: 4 right, 8 errors, 0 wrong'
    fi
    expect_line '^counts-later: [0-9]+ right, 4 errors'
    # Without TRIVANCE_CHECK. The first call with an operation signature falls back if the counts differ, except by the
    # API.
    if [ "$interface" = api ]; then
        run 2 -- -- TRIVANCE_TORUS=2x2 -- "$program" counts
        expect_line 'the count differs between ranks: from 990 elements of 4 bytes to 1000'
        expect_line '^counts: 0 right, 4 errors'
    fi
    ;;
length)
    # In a later call a rank receives a message of the wrong length. The error message names the ranks, and MPI's
    # default error handler ends the job.
    for setting in TRIVANCE_PIECE=1K TRIVANCE_DEBUG=warn ${RANKS_FABRIC:-}; do
        start 2 -- -- TRIVANCE_TORUS=2x2 "$setting" -- "$program" length
        [ $code != 0 ] || fail "the job ends well: $setting"
        expect_line 'rank [0-3]: a collective failed on a communicator of 4 ranks, which can no longer be used: '
        expect_line 'rank [0-3] (sent (more than the )?[0-9]+ bytes|splits its messages)'
    done
    ;;
hints)
    # Another hint on one rank, one rank without a hint, only one rank with a hint, and the same hint on all ranks. The
    # message ends with the torus and the algorithm of rank 0; the drop-in logs every message once.
    ignored='the hint trivance_algorithm of a communicator of 4 ranks is ignored: ' errors=0
    [ "$interface" != api ] || ignored='TRV_Comm_set fails: ' errors=8
    run 2 -- -- TRIVANCE_TORUS=2x2 $loud -- "$program" hints=2:bucket:swing-b hints=2::ring hints=2:swing-b: \
        hints=0::swing-b hints=0:swing-b: hints=2:swing-b:swing-b
    for difference in '2:bucket:swing-b 2 swing-b' '2::ring 2 ring' '2:swing-b: 2 none' '0::swing-b [12] none' \
        '0:swing-b: [12] swing-b'; do
        read -r situation rank first <<< "$difference"
        expect_line "${ignored}rank $rank of the communicator sets another torus or algorithm than rank 0 \\('none', '$first'\\)"
        expect_line "^hints=$situation: [1-9][0-9]* right, $errors errors"
    done
    expect_line '^hints=2:swing-b:swing-b: [1-9][0-9]* right, 0 errors'
    [ "$interface" = api ] || expect_line '^trivance:   MPI_All[a-z]* *swing-b'
    ;;
error)
    # TRIVANCE_FALLBACK=error ends the job, whichever rank differs: rank 2 under the drop-in, rank 0 as the component.
    stop=TRIVANCE_FALLBACK=error odds=2
    [ "$interface" != component ] || odds=0
    [[ $launcher != *mpich* ]] || odds='2 0'
    for odd in $odds; do
        start $odd TRIVANCE_ALGORITHM=swing-b -- -- TRIVANCE_TORUS=2x2 $stop -- "$program"
        expect_line 'TRIVANCE_FALLBACK=error ends the program'
        expect_line "TRIVANCE_ALGORITHM is .* on rank [12]"
        [ $code != 0 ] || fail "rank $odd has another algorithm, and the job does not fail"
        start $odd -- TRIVANCE_TORUS=2x2 $stop -- -- "$program"
        expect_line 'TRIVANCE_FALLBACK=error ends the program'
        [ $code != 0 ] || fail "rank $odd has no variables, and the job does not fail"
    done
    start 1 @other -- -- TRIVANCE_TORUS=2x2 $stop -- "$program"
    expect_line "Trivance's version is"
    [ $code != 0 ] || fail "rank 1 has another version, and the job does not fail"
    ;;
library)
    # A rank without the library: the other ranks wait for it in MPI_Init, and log that.
    start 2 @none -- -- TRIVANCE_TORUS=2x2 TRIVANCE_TIMEOUT=1s TRIVANCE_ON_TIMEOUT=abort -- "$program"
    expect_line 'has waited .* for all 4 ranks of a communicator to call MPI_Init with Trivance loaded'
    [ $code != 0 ] || fail "the job ends well"
    ;;
priority)
    run 2 OMPI_MCA_coll_trivance_priority=0 -- -- TRIVANCE_TORUS=2x2 -- "$program"
    expect_line 'coll_trivance_priority is 0 on rank 2'
    run 0 OMPI_MCA_coll_trivance_priority=0 -- -- TRIVANCE_TORUS=2x2 -- "$program"
    expect_line 'coll_trivance_priority is 0 on rank 0'
    ;;
memory)
    # Every allocation of a communicator's life fails on one rank in turn. Before the ranks' vote all of them fall back,
    # or return an error, and the job continues; after it, the rank reports the failure and the job ends, and another
    # one continues with the next allocation. MPICH busy-waits, so that three ranks on two cores make slow progress:
    # there every allocation fails beside one other rank, and a sample beside two.
    echo '{"format": "trivance-topology-1", "torus": [2, 2], "ranks": [[0, 1], [0, 0], [1, 0]]}' > nodes.json
    modes="3:each:1 3:requests:3 3:stays:1 3:first:1 3:nodes:1 3:planner:1"
    [[ $launcher != *mpich* ]] || modes="2:each:1 2:requests:3 2:stays:1 2:first:1 3:each:13 3:stays:17 3:nodes:13 3:planner:13"
    [[ $launcher != *mpich* || $interface != api ]] || modes="2:each:1 2:requests:3 2:stays:1 2:first:1"
    [ "$interface" != component ] || modes=${modes//:1/:3} # the component itself allocates little
    [ "$interface" != drop-in ] || modes=${modes/[23]:requests:3 /} # with the drop-in requests fall back to the MPI library
    for words in $modes; do
        IFS=: read -r ranks mode stride <<< "$words"
        wiring=TRIVANCE_TORUS=$ranks odd=1 ended=0 next=1 code=1
        case $mode in # on a set of nodes a plan is embedded in them
            nodes) mode=each wiring=TRIVANCE_TOPOLOGY_FILE=nodes.json ;;
            planner) mode=each wiring=TRIVANCE_TOPOLOGY_FILE=nodes.json odd=0 ;; # rank 0 plans for all
        esac
        while [ $code != 0 ]; do
            start $odd LD_PRELOAD="$failing" -- LD_PRELOAD="$failing" -- $wiring RANKS_FAILING=$odd -- "$memory" $mode \
                $next $stride
            [ $code != 0 ] || break
            # By the API also: no memory for the handle of a request that would fall back to the MPI library.
            message="rank $odd: a collective failed on a communicator of [23] ranks, which can no longer be used: .*memory"
            [ "$interface" != api ] || message+='| fails after the vote: out of memory'
            expect_line "$message"
            next=$(($(cat allocation) + stride)) ended=$((ended + 1))
            [[ $mode != requests && $mode != first ]] || next=$((next + 3)) # a sample of those that end the job
            [ $ended -lt 100 ] || fail "too many jobs end: $words"
        done
        expect_line "^[0-9]+ allocations failed on rank $odd; [1-9][0-9]* results are right, [0-9]+ errors, 0 wrong\$"
        [ "$next" -gt 3 ] || expect_line '^[1-9][0-9]+ allocations'
    done
    ;;
duplicate)
    # A node whose shared memory cannot be created: its ranks still agree with the others that the communicator has
    # nodes. Then nothing fails, and attributes' copy callbacks duplicate communicators.
    echo '{"format": "trivance-topology-1", "torus": [2], "ranks": [[0], [0], [1], [1]]}' > "$work/nodes.json"
    nodes="LD_PRELOAD=$failing TRIVANCE_TOPOLOGY_FILE=$work/nodes.json"
    run 2 FAILING_MEMFD=1 -- -- $nodes -- "$program" duplicate
    run 2 -- -- $nodes -- "$program" duplicate callbacks
    expect_line '^callbacks: 16 right, 0 errors'
    ;;
start)
    # The same in MPI_Init, where every allocation needs a separate job.
    ranks=3 number=0
    until grep -q '^no allocation failed' "$work/log" 2> "$work/none"; do
        number=$((number + 1))
        [ $number -lt 100 ] || fail "it does not end"
        run 1 FAILING_MEMORY=$number -- -- LD_PRELOAD="$failing" TRIVANCE_TORUS=3 TRIVANCE_ALGORITHM=bucket -- \
            "$memory" init
    done
    [ $number -gt 5 ] || fail "hardly any allocation fails"
    ;;
*)
    fail "there is no such row"
    ;;
esac
