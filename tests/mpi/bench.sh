#!/usr/bin/env bash
# The benchmark program as users call it: formats, options, bad input.
# Usage: bench.sh LAUNCHER PROGRAM
# Without TEST_EXHAUSTIVE a sample: one result, several algorithms, one error of each kind.
set -u
exhaustive=${TEST_EXHAUSTIVE:-}
launcher=$1 program=$2
failures=0
out=$(mktemp) err=$(mktemp)
trap 'rm -f "$out" "$err"' EXIT

ranks=4 # 0: one rank without the launcher, which starts faster
bench() {
    local launched=("$launcher" -n $ranks)
    last="bench $*"
    [ $ranks = 0 ] && launched=()
    "${launched[@]}" "$program" bench "$@" > "$out" 2> "$err"
}

fail() {
    echo "FAILED: $1"
    echo "--- stdout"; cat "$out"; echo "--- stderr"; cat "$err"
    failures=$((failures + 1))
}

# good LINES PATTERN ARGUMENTS…: exit code 0, LINES lines that match PATTERN.
good() {
    local lines=$1 pattern=$2
    shift 2
    bench "$@" || { fail "bench $* exits $?"; return; }
    also "$lines" "$pattern"
}

# also LINES PATTERN: LINES lines of the previous output match PATTERN.
also() { [ "$(grep -c -E -- "$2" "$out")" = "$1" ] || fail "$last: not $1 lines like $2"; }

# refused STATUS WORDS ARGUMENTS…: exit code STATUS, one sentence with WORDS, nothing on stdout.
refused() {
    local status=$1 words=$2 code
    shift 2
    bench "$@"
    code=$?
    [ $code = "$status" ] || fail "bench $* exits $code, not $status"
    [ "$(grep -c '^trivance bench: ' "$err")" = 1 ] || fail "bench $*: not one sentence"
    grep -q -F -- "$words" "$err" || fail "bench $*: does not contain '$words'"
    grep -v -E '^[[:space:]=-]*$|BAD TERMINATION|EXIT CODE|CLEANING|RUNNING AT|EXIT STRING|PID ' "$out" | grep -q . &&
        fail "bench $*: has output"
}

bad() { refused 2 "$@"; }

# has_ofi: whether messages can be sent over libfabric.
has_ofi() {
    bench --bytes 64 -a ring -i 2 --transport=ofi && return
    grep -q 'built without libfabric' "$err" || fail "bench over libfabric"
    return 1
}

# wrong_schedule: a schedule file whose claim is false.
wrong_schedule() {
    refused 1 'violates its claims: after the last step' --schedule="$(dirname "$0")/../data/wrong-4.json"
}

# every_collective: each collective beside AllReduce, Reduce-Scatter and AllGather, by each algorithm of the MPI library,
# auto and a named algorithm in turns, also in place.
every_collective() {
    local collective algorithm place
    for collective in broadcast:bine reduce:scatter-allgather scatter:linear gather:trivance-tree alltoall:pairwise; do
        algorithm=${collective#*:}
        collective=${collective%:*}
        for place in false true; do
            good 1 "^$collective,4,4,int32,(sum)?,$place,4096,1024,mpi,,mpi,.*,0,(true)?,2,.*,[0-9.]+\$" --turns \
                --collective $collective --type int32 $([ $place = true ] && echo --in-place) --bytes 4K -i 2 \
                --format=csv --torus 4 -a mpi:all,auto,$algorithm
            also 1 "^$collective,4,.*,mpi,auto,.*,0,(true)?,2,.*,[0-9.]+\$"
            also 1 "^$collective,4,.*,$algorithm[^,]*,mpi,$algorithm,.*,0,(true)?,2,.*,[0-9.]+\$"
            also 1 "^$collective,4,.*,mpi:binomial,,mpi:binomial,.*,0,(true)?,2,.*,[0-9.]+\$|^alltoall.*,mpi:pairwise,"
        done
    done
}

finish() {
    [ $failures = 0 ] && echo "all as expected"
    exit $((failures > 0))
}

if [ -z "$exhaustive" ]; then
    good 4 '^(8|16|32|64) +[0-9.]+$' -f osu --bytes=8:64:x2 -i 7 --warmup=1 -a trivance-l
    good 5 ' (exchange|auto: [a-z]|mpi  |mpi:recdoub) .*' --turns -a exchange,auto,mpi,mpi:recdoub --bytes 64 -i 2
    wrong_schedule
    ranks=0
    bad "there is no algorithm 'trivance-q'" -a trivance-q
    bad "the operation sum is not defined on bool; use land, lor, lxor, band, bor or bxor" --type=bool --op=sum
    bad "--check: '2' is not a whole number from 0 to 1" --check=2
    finish
fi

good 1 'trivance-b +mpi +4 +[0-9]+ .* 0 +yes$' -a trivance-b --bytes 4KiB -i 5
good 3 ' 0 +yes$' --torus 4 --torus 2x2,4 -a ring,bucket --op max --type int8 --bytes 64 --in-place -i 3 --warmup 1 --check=1
good 1 '^allreduce,2x2,4,double,prod,false,64,8,trivance-b,mpi,trivance-b,[0-9]+,' --torus 2x2 --algorithm=trivance-b --type=double \
    --op=prod --bytes=64 --format=csv -i 2
keys=collective,torus,ranks,type,op,in_place,bytes,count,algorithm,transport,chosen_for,steps,bytes_sent
keys=$keys,latency_avg_us,latency_min_us,latency_max_us,algbw_gb_per_s,busbw_gb_per_s,wrong,identical,iterations,ranks_per_core,busy
also 1 "^$keys\$"
good 3 '"wrong": 0, "identical": true' --format=json --bytes 64,128,256 -i 2 -a swing-b
good 4 '^(8|16|32|64) +[0-9.]+$' --format=osu --bytes=8:64:x2 -i 7 --warmup=1 -a trivance-l
also 1 '^# Size       Avg Latency\(us\)$'
good 4 '^ +[0-9]+ +[0-9]+ +float +sum +-1( +[0-9.]+){3} +0( +[0-9.]+){3} +0$' --format=nccl --bytes=8:64:x2 -i 3 \
    --warmup=1 -a trivance-l
also 1 '^# +size +count +type +redop +root( +time +algbw +busbw +#wrong){2}$'
also 1 '^# +\(B\) +\(elements\)( +\(us\) +\(GB/s\) +\(GB/s\)){2}'
good 1 'Out of bounds values : 0 OK' --format=nccl --bytes=64 -i 3 -d double --op=min -a auto
good 3 ' 0 +yes$' -a planned,hybrid:2x1 --torus 4,2x2 --bytes 4KiB -i 3 # 2x1 fits no ring
good 1 'reduce-scatter,' --collective reduce-scatter --bytes 64 --format=csv -i 2
good 1 'allgather,' --collective allgather --bytes 64 --format=csv -i 2 --type complexdouble
good 2 '  (auto|planned): [a-z]' --bytes 64 -a mpi,auto,planned -i 2
also 1 ' 64 B +mpi '
good 1 ',hybrid:2[^,]*,mpi,hybrid:2,' --bytes 64 -a hybrid:2 -i 2 --format=csv
# --turns: each member of a family, exchanges of one step and of five with both neighbours, and each algorithm of the
# MPI library.
good 4 '^allreduce,4,4,(double,sum|int8,max),false,64,(8|64),trivance-[lb],mpi,trivance-[lb]=(double|int8:max),.*,0,true,2,' \
    --turns -a trivance=double,trivance=int8:max,exchange,mpi:all --bytes 64 -i 2 --format=csv
also 2 ',exchange,,exchange,(1,16|5,80),[0-9.]+,'
also 1 ',mpi,,mpi,,,[0-9.]+,.*,0,true,2,'
also 1 ',mpi:recdoub,,mpi:recdoub,,,[0-9.]+,.*,0,true,2,'

# Over MPI and over libfabric, if that is built in; the MPI library's collective once. --transport takes precedence over
# the environment.
export TRIVANCE_TRANSPORT=ofi
good 1 ',ring,mpi,ring,' --transport=mpi --bytes 64 -a ring -i 2 --format=csv
if has_ofi; then
    good 1 '  ring +ofi +' --bytes 64 -a ring -i 2
    export TRIVANCE_TRANSPORT=mpi
    good 2 '  ring +(ofi|mpi) .* 0 +yes$' --transport=ofi,mpi --bytes 64 -a ring,mpi -i 2
    also 1 '^4 +64 B +mpi +[0-9.]'
    good 2 '^# algorithm trivance-l, .*, transport (mpi|ofi)$' --transport=mpi,ofi --format=osu --bytes=8:16 -a trivance-l -i 2
fi
unset TRIVANCE_TRANSPORT
"$launcher" -n 1 "$program" bench --bytes 64 -a ring -i 2 > "$out" 2> "$err"
grep -q ' on 1 MPI rank; ' "$out" || fail "one rank: $(cat "$out" "$err")"
# An error of only one rank is reported.
if "$launcher" -n 1 "$program" bench --transport=ofi --bytes 64 -a ring -i 2 > "$out" 2> "$err"; then
    "$launcher" -n 2 "$program" bench --transport=ofi --bytes 64 -a ring : \
        -n 1 env TRIVANCE_PORTS=eth77 "$program" bench --transport=ofi --bytes 64 -a ring > "$out" 2> "$err"
    [ $? = 2 ] && grep -q "^trivance bench: TRIVANCE_TRANSPORT=ofi: rank 2: TRIVANCE_PORTS: there is no active interface 'eth77'" "$err" ||
        fail "the error of another rank is not reported"
fi
bad "there is no transport 'tcp'; expected mpi or ofi" --transport=mpi,tcp
TRIVANCE_TRANSPORT=tcp bad "TRIVANCE_TRANSPORT: 'tcp' is not one of mpi|ofi" --bytes 64
good 2 '^ *4 +(64|512) B' --bytes 64:512:8 -a trivance -i 2

export TRIVANCE_TORUS=2x2,4,9
good 2 '^(4|2x2) +64 B' --bytes 64 -a trivance -i 2
export TRIVANCE_TORUS=2x
refused 2 'TRIVANCE_TORUS: ' --bytes 64 -i 2
unset TRIVANCE_TORUS

every_collective
good 1 '^ +64 +16 +float +none +0 ' --format=nccl --bytes=64 -i 3 -a auto --collective=scatter

wrong_schedule
ranks=2 # enough for errors of the command line
bad "trivance-l-overlap" -a trivance-l-overlap --op sum
bad "--iterations" -i 0
ranks=0
good 1 '^Usage: mpirun' --help
bad "--turns is for the formats table, csv and json" --turns --format=osu
bad "exchange is measured with --turns only" -a exchange
bad "the MPI library has no algorithm 'fast' for AllReduce; there are mpi, mpi:recdoub," -a mpi:fast
bad "the MPI library has no algorithm 'recdoub' for Scatter; there are mpi, mpi:binomial, and mpi:all" -a mpi:recdoub --collective=scatter
bad "element type 'int9' does not exist" -a ring=int9
bad "leave --collective out" --schedule="$(dirname "$0")/../data/wrong-4.json" -c allgather
bad "there is no algorithm 'trivance-q'" -a trivance-q
bad "must be the number of ranks" --torus 3x3
bad "3x" --torus 3x
bad "0x4" --torus 0x4
bad "9999999999x2" --torus 9999999999x2
bad "nine" --torus nine
bad "10 B are not a multiple of 4 B" --bytes 10
bad "--format" --format
bad "there is no format 'xml'" --format=xml
bad "expected MIN:MAX with MIN at most MAX" --bytes 64:8
bad "not a range of sizes" --bytes 8:16:2:4
bad "there is no option" --frobnicate
bad "there is no option '-m'" --format=osu -m 8:64
bad "there is no option '-n'" --format=nccl -n 3
bad "is not defined on" --type double --op band
bad "is not defined on" -a auto=double:band
bad "MPI has no type" --type bfloat16
bad "unexpected argument 'extra': bench takes only options" extra
bad "there is no collective 'barrier'" --collective barrier
bad "Broadcast has no reduction; leave --op out" --collective broadcast --op max
bad "ring does not support Broadcast" --collective broadcast -a ring
bad "holds no element" --bytes 1:2 --type double
finish
