#!/usr/bin/env bash
# Runs every fenced `sh` block of the documents, and compiles and runs every fenced `c` block (a whole program), in an
# empty folder with the built tool in PATH. `make` is replaced by a shim that only checks that the target exists: `make
# check` and `make check-all` run the targets, or are run by them.
# Usage: commands.sh SOURCE BUILD DOCUMENT…
set -eu -o pipefail
source=$1 build=$2
shift 2
. "$source/scripts/mpi-environment.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/empty"
ln -s "$build/bin/trivance" "$work/bin/trivance"
cat > "$work/bin/make" << SHIM
#!/bin/sh
exec /usr/bin/make -C "$source" --no-print-directory -n "\$@" > /dev/null
SHIM
chmod +x "$work/bin/make"
export PATH="$work/bin:$PATH"
mpicc.openmpi "$source/tests/readme/program.c" -o "$work/empty/program" # replaces the MPI program of README's reader

# blocks DOCUMENT: writes block-<line>.sh and block-<line>.c
blocks() {
    awk -v prefix="$work/block-" '
        /^```/ && !inside { inside = 1; file = $0 ~ /^```(sh|c|text)$/ ? prefix NR "." substr($0, 4) : ""; next }
        /^```/            { inside = 0; if (file) close(file); next }
        inside && file    { print > file }' "$1"
}

failed=0 count=0
for document in "$@"; do
    environment=(env)
    if [ "$document" = README.md ]; then # its readers have not sourced the script; `trivance run` permits shared cores
        environment+=(-u OMPI_MCA_rmaps_base_oversubscribe)
    fi
    rm -f "$work"/block-*
    blocks "$source/$document"
    for block in $(ls "$work"/block-* | sort -V); do
        line=$(basename "${block%.*}" | tr -dc 0-9)
        if [ "${block##*.}" = c ]; then
            run=(bash -c "cc -std=c11 -Wall -Wextra -Werror -I'$source/include' '$block' -o '$work/program' \
                '$build/src/libtrivance.a' -lm -pthread && '$work/program'")
        elif [ "${block##*.}" = text ]; then # the expected output, below "$ command"
            grep -q '^\$ ' "$block" || continue
            run=(bash -eu -c "diff <($(sed -n '1s/^\$ //p' "$block")) <(tail -n +2 '$block')")
        else
            run=(bash -eu "$block")
        fi
        count=$((count + 1))
        if ! (cd "$work/empty" && "${environment[@]}" "${run[@]}") > "$work/output" 2>&1; then
            echo "$document: the block after line $line fails:"
            cat "$block" "$work/output"
            failed=$((failed + 1))
        fi
    done
done
echo "$count blocks, $failed failed"
[ $failed = 0 ] && [ $count -gt 3 ]
