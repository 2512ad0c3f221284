#!/usr/bin/env bash
# Checks that all C and C++ files except vendored ones have the layout of .clang-format, and no line of more than 120 characters, which
# clang-format allows in comments; with --fix applies the layout.
# Usage: format.sh clang-format-14 [--fix]
set -eu
cd "$(dirname "$0")/.."
files() { find src testbed explorer include python tests bench $([ ! -d research ] || echo research) examples -name vendor -prune -o \( -name '*.[ch]' -o -name '*.[ch]pp' \) -print0; }
case ${2-} in
--fix) files | xargs -0 "$1" -i ;;
"")
    files | xargs -0 -n 50 -P "$(nproc)" "$1" --dry-run -Werror
    export LC_ALL=C.UTF-8
    ! files | xargs -0 grep -nE '^.{121,}$' || { echo "format: these lines have more than 120 characters" >&2; exit 1; }
    ;;
*) echo "format: unknown option '$2': expected --fix" >&2; exit 2 ;;
esac
