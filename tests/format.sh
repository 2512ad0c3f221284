#!/usr/bin/env bash
# Checks that all C and C++ files have the layout of .clang-format; with --fix applies it.
# Usage: format.sh clang-format-14 [--fix]
set -eu
cd "$(dirname "$0")/.."
files() { find src testbed explorer include python tests bench examples \( -name '*.[ch]' -o -name '*.[ch]pp' \) -print0; }
case ${2-} in
--fix) files | xargs -0 "$1" -i ;;
"") files | xargs -0 -n 50 -P "$(nproc)" "$1" --dry-run -Werror ;;
*) echo "format: unknown option '$2': expected --fix" >&2; exit 2 ;;
esac
