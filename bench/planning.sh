#!/usr/bin/env bash
# Time and memory of `trivance plan`, cold, beside the aims: 0.2 s on symmetric tori up to 32x32 and 16x16x16; 2 s on
# any other network of up to 1,024 nodes; 10 s and 1 GB up to 10,000; with --why three times as long. Seconds are those
# of one processor.
#
#     bench/planning.sh [BUILD]      all questions, about four minutes
#     bench/planning.sh BUILD TORUS [OPTION…]      this network at all sizes, for example build 27x27m
set -eu
build=${1:-build}
shift || true
collectives=${COLLECTIVES:-allreduce reduce-scatter broadcast reduce alltoall}
sizes=${SIZES:-32 64K 4M 256M}
printf '%9s %9s %9s %9s  %s\n' seconds aim --why MB question

# ask AIM TORUS [OPTION…]
ask() {
    local aim=$1 collective size question
    shift
    for collective in $collectives; do
        for size in $sizes; do
            question=("$@" --collective="$collective" --bytes="$size")
            timing=$({ /usr/bin/time -f '%U %M' "$build/bin/trivance" plan "${question[@]}" > /dev/null; } 2>&1) || {
                printf '%s: %s\n' "${question[*]}" "$timing"
                continue
            }
            why=$({ /usr/bin/time -f '%U' "$build/bin/trivance" plan "${question[@]}" --why > /dev/null; } 2>&1)
            printf '%9s %9s %9s %9d  %s\n' "${timing% *}" "$aim" "$why" $((${timing#* } / 1024)) "${question[*]}"
        done
    done
}

if [ $# -gt 0 ]; then
    ask - "$@"
    exit
fi
for torus in 27x27 32x32 8x64 16x16x16; do
    ask 0.2 $torus
done
for network in 32mx32m 1024m '32x32 --cut=5:+0' 8x8x16m '512 --nodes=0-400' '16x16 --no-forwarding'; do
    ask 2 $network
done
for network in 100mx100m '100x100 --cut=5:+0' 20x20x25m; do
    ask 10 $network
done
