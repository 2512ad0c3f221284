#!/usr/bin/env bash
# scripts/dependencies.sh with stand-ins for apt-get and dpkg-query: it waits without a word while another program holds
# a lock of apt, reports other errors, and prints the command where the user is not root. Usage: dependencies.sh SOURCE
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "dependencies: $1"; cat "$work/out"; exit 1; }

stand_in() { printf '#!/bin/sh\n%s\n' "$2" > "$work/$1"; chmod +x "$work/$1"; }
run() { PATH=$work:$PATH "$source/scripts/dependencies.sh" build > "$work/out" 2>&1; }

stand_in dpkg-query 'echo not-installed'
stand_in id 'echo 0'
stand_in apt-get "echo \"\$@\" >> $work/calls
[ \$(wc -l < $work/calls) -gt 2 ] || { echo 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1'; exit 100; } >&2"
run || fail "fails although the lock is released"
! grep -q "lock" "$work/out" || fail "prints the errors of the lock"
grep -q "Lock::Timeout=300 install -y .* mpich" "$work/calls" || fail "does not install, with a timeout for the lock"

stand_in apt-get 'echo "E: no network" >&2; exit 100'
! run || fail "succeeds without a network"
grep -q "E: no network" "$work/out" || fail "does not print the error"

stand_in id 'echo 1000'
! run || fail "succeeds without the packages"
grep -q "sudo apt-get install --no-install-recommends .*mpich" "$work/out" || fail "does not print the command"
