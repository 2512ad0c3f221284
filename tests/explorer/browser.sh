#!/usr/bin/env bash
# Runs scripts with the explorer in a real browser, Debian's chromium, controlled by playwright-core. Usage: browser.sh
# SOURCES BUILD SCRIPT …
# Exit status 77, skipped with the reason, if there is no browser or npm cannot download playwright-core.
set -u
sources=$1 build=$2
shift 2
skip() { echo "skipped: $*"; exit 77; }
command -v node > /dev/null || skip "node is not installed; scripts/dependencies.sh explorer installs it"
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
    skip "there is no chromium; scripts/dependencies.sh browser installs it"
work=$build/tests/explorer/modules
mkdir -p "$work"
exec 9> "$work.lock" # other tests may start at the same time
flock 9
if ! cmp -s "$sources/tests/explorer/package-lock.json" "$work/package-lock.json" || [ ! -d "$work/node_modules" ]; then
    command -v npm > /dev/null || skip "there is no npm; scripts/dependencies.sh browser installs it"
    cp "$sources"/tests/explorer/package.json "$sources"/tests/explorer/package-lock.json "$work/"
    (cd "$work" && npm ci --no-audit --no-fund > npm.log 2>&1) || { rm -rf "$work"; skip "npm cannot download playwright-core and axe-core"; }
fi
exec 9>&-
export MODULES=$work CHROMIUM=$chromium PAGE=$build/bin/explorer.html SHOTS=$build/tests/explorer/shots
mkdir -p "$SHOTS"
exec node "$sources/tests/explorer/$1" "${@:2}"
