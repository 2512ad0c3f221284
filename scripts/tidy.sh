#!/usr/bin/env bash
# Runs clang-tidy 14 on src/, testbed/ and explorer/ (.clang-tidy has the checks). Usage: tidy.sh [build folder]; JOBS
# is the number of parallel processes.
set -eu -o pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
if ! command -v clang-tidy-14 > /dev/null; then
    echo "tidy: skipped, because clang-tidy-14 is not installed, and other versions report other warnings"
    exit 0
fi

# One compile command per file; otherwise the MPI layer would be checked once for every MPI.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk -v root="$PWD/" -v files="$work/files" '
    BEGIN { RS = "},?\n" }
    match($0, /"file": "[^"]*"/) {
        file = substr($0, RSTART + 9, RLENGTH - 10)
        path = substr(file, length(root) + 1)
        if (index(file, root) != 1 || path !~ /^(src|testbed|explorer)\// || known[file]++)
            next
        sub(/^\[\n/, "")
        printf "%s%s}", count++ ? ",\n" : "[\n", $0
        print file > files
    }
    END { print "\n]" }' "$build/compile_commands.json" > "$work/compile_commands.json"
xargs -a "$work/files" -d '\n' -n 8 -P "${JOBS:-$(nproc)}" clang-tidy-14 -p "$work" --quiet \
    2> "$work/errors" || { grep -v -E '(generated|treated as errors?)\.?$' "$work/errors" >&2; exit 1; }
echo "tidy: $(wc -l < "$work/files") files"
