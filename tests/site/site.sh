#!/usr/bin/env bash
# Builds the documentation site and the man pages of the C interface, and checks them. Exit status 77, skipped with the
# reason, if a program is missing. Usage: site.sh SOURCES BUILD
set -eu
sources=$1 build=$2/tests/site # not what `make install` would install
for program in mkdocs doxygen; do
    command -v $program > /dev/null || { echo "skipped: $program is not installed; scripts/dependencies.sh docs installs it"; exit 77; }
done
fail() { echo "site: $*"; exit 1; }
"$sources/scripts/docs.sh" "$build"
python3 "$sources/tests/site/links.py" "$build/docs/html"

# The check itself finds a missing page, a missing anchor and a font from elsewhere.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo '<p id=here><a href=none.html>1</a><a href=#there>2</a><a href=#here>3</a><link href=https://host/font.css>' > "$work/a.html"
! python3 "$sources/tests/site/links.py" "$work" > "$work/out" || fail "links.py accepts a page with three faults"
grep -q '1 pages, 3 links, 3 faults' "$work/out" || fail "links.py: $(cat "$work/out")"

# No page has a line that troff takes for a request.
if command -v man > /dev/null; then
    for page in "$build"/docs/man3/*.h.3; do
        man --warnings -E UTF-8 -l -Tutf8 "$page" 2>> "$work/warnings" > /dev/null
    done
    ! grep . "$work/warnings" || fail "man warns"
fi

# Every function of the headers has a man page.
grep -ho '^TRV_API [^(]*[ *]\(trv_[a-z0-9_]*\|TRV_[A-Z][a-z_0-9]*\)(' "$sources"/include/trivance/*.h "$2"/bindings/trivance/*.h 2> /dev/null |
    sed 's/.*[ *]\([A-Za-z_0-9]*\)($/\1/' | sort -u > "$work/functions"
[ "$(wc -l < "$work/functions")" -gt 200 ] || fail "only $(wc -l < "$work/functions") functions found in the headers"
while read -r name; do
    page=$build/docs/man3/$name.3
    [ -f "$page" ] || fail "$name has no man page"
    grep -q "$name" "$build/docs/$(sed -n 's/^\.so //p' "$page")" || fail "the man page of $name does not mention it"
done < "$work/functions"
