# Functions for the scripts in this folder. A script sets $tool (the trivance program), then sources this file. The file
# creates the temporary folder $work; at exit it removes the folder and takes down the testbed that the script has set
# up.

work=$(mktemp -d)
trap '[ -z "${ours-}" ] || "$tool" testbed down > /dev/null; rm -rf "$work"' EXIT

fail() { echo "$(basename "$0"): $*"; [ ! -s "$work/out" ] || cat "$work/out"; exit 1; }

# expect CODE WORDS COMMAND…: checks the exit code and that the output contains WORDS.
expect() {
    local code=$1 words=$2 got
    shift 2
    "$@" > "$work/out" 2>&1
    got=$?
    [ $got = "$code" ] || fail "exit code $got, not $code: $*"
    [ -z "$words" ] || grep -q -e "$words" "$work/out" || fail "the output does not contain '$words': $*"
}

# refuse WORDS ARGUMENTS…: expects one line with WORDS, exit code 2, and nothing on standard output.
refuse() {
    local words=$1
    shift
    expect 2 "$words" "$tool" testbed "$@"
    [ "$(wc -l < "$work/out")" = 1 ] || fail "more than one line: $*"
}

# up ARGUMENTS…: sets up a testbed, which is taken down when the script ends; exits with 77 if the machine cannot have
# one.
up() {
    "$tool" testbed up "$@" > "$work/out" 2>&1 && ours=1 && return
    grep -q -E "needs root|TUN devices|network namespaces|iproute2|is up already|is running" "$work/out" || fail "up"
    echo "skipped: $(cat "$work/out")"
    exit 77
}

down() { "$tool" testbed down > /dev/null && ours=; }
