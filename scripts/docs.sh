#!/usr/bin/env bash
# The documentation site, BUILD/docs/html, and the man pages of the C interface, BUILD/docs/man3. Usage: docs.sh BUILD
set -eu -o pipefail
cd "$(dirname "$0")/.."
folder=$1/docs
mkdir -p "$folder"
work=$(mktemp -d "$folder/work.XXXXXX")
trap 'rm -rf "$work"' EXIT

python3 -B src/mpi/bindings/generate.py "$work/headers"
cp include/trivance/*.h "$work/headers/trivance/"
python3 docs/site/pages.py . "$work"
(cd "$work" && mkdocs build --strict --quiet) # a warning is an error

{ cat docs/site/Doxyfile; echo "OUTPUT_DIRECTORY = \"$work\""
    echo "INPUT = \"$work/headers/trivance\""
    echo "STRIP_FROM_PATH = \"$work/headers\""; } | doxygen -
# Doxygen names the page of a header torus.h(3), and adds a link to it for every name in the header, of which those of
# functions and types are kept.
mkdir "$work/man3"
for page in "$work"/man/man3/*.3; do
    name=$(basename "$page")
    case $name in
    *.h.3) sed "s|^'|\\\\&'|" "$page" > "$work/man3/trivance_$name" ;; # an apostrophe would begin a request of troff
    trv_* | TRV_[A-Z][a-z]*) sed 's|^\.so man3/|&trivance_|' "$page" > "$work/man3/$name" ;;
    esac
done

rm -rf "$folder/html" "$folder/man3"
mv "$work/html" "$work/man3" "$folder/"
