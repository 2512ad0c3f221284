#!/usr/bin/env bash
# Whether all C and C++ has the layout of .clang-format. Usage: format.sh clang-format-14 [--mend]
set -eu
cd "$(dirname "$0")/.."
files() { find src testbed explorer include python tests bench examples \( -name '*.[ch]' -o -name '*.[ch]pp' \) -print0; }
if [ "${2-}" = --mend ]; then
    files | xargs -0 "$1" -i
else
    files | xargs -0 -n 50 -P "$(nproc)" "$1" --dry-run -Werror
fi
