#!/usr/bin/env bash
# The rooms of the MPI layer, from the top down: a file includes headers of its own room and of those behind it only, and
# the headers of a room make no circle. Usage: arrows.sh SOURCES
set -eu
cd "$1/src/mpi"
rooms=(front selection operations communicator node reports transport)
wrong=0

place() { # of a room in the list
    local i
    for i in "${!rooms[@]}"; do
        [ "${rooms[$i]}" = "$1" ] && echo "$i" && return
    done
    echo 99
}

for room in "${rooms[@]}"; do
    here=$(place "$room")
    for file in "$room"/*.[ch]; do
        while read -r other; do
            if [ "$(place "$other")" -lt "$here" ]; then
                echo "$file includes a header of $other, which stands above it"
                wrong=1
            fi
        done < <(sed -nE 's|^#include "mpi/([a-z]+)/.*|\1|p' "$file" | sort -u)
    done
done

# Header depends on header; tsort names circles.
for file in */*.h; do
    echo "mpi/$file mpi/$file"
    sed -nE "s|^#include \"(mpi/[^\"]+)\".*|mpi/$file \1|p" "$file"
done | tsort > /dev/null || { echo "headers include each other in a circle"; wrong=1; }
exit $wrong
