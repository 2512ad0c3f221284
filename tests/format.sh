#!/usr/bin/env bash
# Checks that all C and C++ files except vendored ones have the layout of .clang-format, and that these, in which
# clang-format allows long comments, and all JavaScript, CSS and HTML have no line of more than 120 characters; with --fix
# applies the layout.
# Usage: format.sh clang-format-14 [--fix]
set -eu
cd "$(dirname "$0")/.."
files() { # PATTERN …: the files of these names
    find src testbed explorer include python tests bench $([ ! -d research ] || echo research) examples -name vendor \
        -prune -o \( -false $(printf ' -o -name %s' "$@") \) -print0
}
set -f # patterns are for find
case ${2-} in
--fix) files '*.[ch]' '*.[ch]pp' | xargs -0 "$1" -i ;;
"")
    files '*.[ch]' '*.[ch]pp' | xargs -0 -n 50 -P "$(nproc)" "$1" --dry-run -Werror
    export LC_ALL=C.UTF-8
    if files '*.[ch]' '*.[ch]pp' '*.js' '*.mjs' '*.ts' '*.css' '*.html' | xargs -0 grep -nE '^.{121,}$'; then
        echo "format: these lines have more than 120 characters" >&2
        exit 1
    fi
    ;;
*) echo "format: unknown option '$2': expected --fix" >&2; exit 2 ;;
esac
