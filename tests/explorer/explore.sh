#!/usr/bin/env bash
# trivance explore: writes the built page; if the page was not built, or the options are wrong, it prints an error
# sentence.
# Usage: explore.sh TRIVANCE [explorer.html]
set -eu -o pipefail
tool=$1 page=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$tool" "$work/trivance"
cd "$work"
fail() { echo "explore: $*"; exit 1; }

code=0
./trivance explore > out 2> err || code=$?
[ "$code" = 2 ] && grep -q 'was not built with this tool: .*make explorer' err || fail "without a page: $code, $(cat out err)"
[ ! -e trivance-explorer.html ] || fail "without a page there is a file all the same"
[ -n "$page" ] || exit 0

cp "$page" explorer.html
./trivance explore | grep -q '^trivance-explorer.html: open it in a browser' || fail "it does not say how to open it"
cmp trivance-explorer.html "$page"
./trivance explore -o - | cmp - "$page"
./trivance explore -o "-it's a.html" | grep -qF "xdg-open './-it'\\''s a.html'\`" || fail "how to open a file with an odd name"
cmp -- "./-it's a.html" "$page"
! ./trivance explore -o /dev/full 2> err || fail "a full disk is no failure"
grep -q 'is the disk full' err || fail "a full disk: $(cat err)"
./trivance explore --output=torus.html > /dev/null && cmp torus.html "$page"
code=0
./trivance explore 9x9 2> err || code=$?
[ "$code" = 2 ] && grep -q "unexpected argument '9x9'" err || fail "an argument: $code, $(cat err)"
! grep -qE '(src|href)="?https?:|@import|url\(http' "$page" || fail "the page wants something from the network"
