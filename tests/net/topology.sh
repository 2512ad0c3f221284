#!/usr/bin/env bash
# trivance topology --ports on this host, started by trivance launch; tests/testbed/ports.sh tests it on a network. Here
# it measures memory, so that any verdict is possible. Usage: topology.sh TRIVANCE
set -u
tool=$1
fail() { echo "topology.sh: $*"; exit 1; }

# refuse WORDS COMMAND…: expects one line with WORDS, besides the launcher's, and exit code 2.
refuse() {
    local words=$1 output code
    shift
    output=$("$@" 2>&1)
    code=$?
    output=${output%%$'\n'trivance launch: rank ? ended with exit status 2}
    [ $code = 2 ] || fail "exit code $code, not 2: $*"
    [[ $output == *"$words"* && $output != *$'\n'* ]] || fail "not said '$words': $output"
}

refuse "no launcher has started this process" "$tool" topology --ports
refuse "leave out --ports" "$tool" topology --ports --dump
refuse "leave out --output and the file" "$tool" topology --ports -o x y
refuse "--bytes is only for --ports" "$tool" topology --bytes=1K
refuse "--bytes: a measured message has at most 1 GiB, for example 1M" "$tool" topology --ports --bytes=1T
refuse "does not have 2 ranks" "$tool" launch -n 2 "$tool" topology --ports --torus=7
refuse "no interface 'eth77'" "$tool" launch -n 1 env TRIVANCE_PORTS=eth77 "$tool" topology --ports

# A rank that cannot reach rank 0 reports the error itself.
for place in RANK=zero RANK=-1 RANK=2; do
    refuse "${place#*=}" env $place WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 "$tool" topology --ports
done
refuse "rank 1 waited 0.1 s" env RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=9 TRIVANCE_START_TIMEOUT=0.1s \
    "$tool" topology --ports

"$tool" topology --help | grep -q "^       trivance launch -n N trivance topology --ports" || fail "--help does not say how to call it"
refuse "has no torus of 2 ranks" "$tool" launch -n 2 env TRIVANCE_TORUS=7,3x3 "$tool" topology --ports
# All ranks report an invalid setting of one rank, instead of a timeout.
while read -r setting; do
    refuse "rank 1: ${setting%%=*}: '${setting#*=}'" "$tool" launch -n 2 sh -c \
        '[ $RANK = 0 ] || export "$1"; exec "$2" topology --ports' sh "$setting" "$tool"
done << 'SETTINGS'
TRIVANCE_TIMEOUT=5
TRIVANCE_START_TIMEOUT=0s
TRIVANCE_LISTEN_EVERYWHERE=perhaps
SETTINGS
for ports in 'eth1;eth2' , +0 10.1.0.0/33 127.0.0/8 +0= lo,+0=lo; do
    refuse "expected the interface of each port, for example +0=eth1" "$tool" launch -n 1 \
        env "TRIVANCE_PORTS=$ports" "$tool" topology --ports
done
output=$("$tool" launch -n 1 "$tool" topology --ports) && [ "$output" = "one rank: it has no links, and nothing to measure" ] ||
    fail "one rank: $output"
[ "$("$tool" launch -n 1 "$tool" topology --ports --format=json | tr -d ' \n')" = "[]" ] || fail "one rank as JSON"

rows=$("$tool" launch -n 4 "$tool" topology --ports --torus=2x2 --bytes=64K --format=csv 2> /dev/null)
[ $? -le 1 ] || fail "topology --ports fails"
awk -F, 'NR == 1 { if ($3 != "port" || $10 != "paths") exit 1; next }
    $8 > 0 && $9 > 0 && ($10 == "two" || $10 == "interface" || $10 == "unclear") { rows[$1]++ }
    END { exit !(rows[0] == 4 && rows[1] == 4 && rows[2] == 4 && rows[3] == 4) }' <<< "$rows" || fail "not the rows: $rows"
"$tool" launch -n 2 "$tool" topology --ports --bytes=4K 2> /dev/null | grep -q "^        0 .*\(two separate paths\|shared interface\|not clear\)" ||
    fail "no table"

# A line, in which the middle rank has an interface for each port. The ranks at the ends use one port and one interface,
# which is not a shared path.
rows=$("$tool" launch -n 3 sh -c 'case $RANK in 0) ports=+0=127.0.0.1 ;; 1) ports=+0=127.0.0.1,-0=127.0.0.2 ;; 2) ports=-0=127.0.0.2 ;; esac
    TRIVANCE_PORTS=$ports exec "$0" topology --ports --torus=3m --bytes=4M --format=csv' "$tool" 2> /dev/null)
awk -F, 'NR > 1 { ports[$1] = ports[$1] $3; wrong = wrong || $10 == "interface" }
    END { exit wrong || ports[0] != "+0" || ports[1] != "+0-0" || ports[2] != "-0" }' <<< "$rows" || fail "a line: $rows"

# Measured paths are written to a rules file, whose other contents are kept, and are used by later jobs.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
refuse "--rules is only for --ports" "$tool" topology "--rules=$work/rules.json"
cat > "$work/rules.json" << 'RULES'
{"rule_file_version": 1, "network": {"alpha": "7us"},
 "collectives": {"allreduce": [{"rules": [{"alg": "ring"}]}]}}
RULES
# paths FILE TORUS RULES…: the file then has these rules and the torus's paths; where that was not clear it is as before.
paths() {
    local file=$work/$1 torus=$2 before
    shift 2
    before=$(cat "$file" 2> /dev/null)
    "$tool" launch -n 4 "$tool" topology --ports --bytes=64K "--torus=$torus" "--rules=$file" > /dev/null 2> "$work/said"
    case $? in
        0) grep -q "$file says: " "$work/said" && ! grep -q "not clear" "$work/said" || fail "$file: $(cat "$work/said")" ;;
        1) grep -q "is not clear, so $file is left as it is" "$work/said" && [ "$(cat "$file" 2> /dev/null)" = "$before" ] ||
            fail "$file: $(cat "$work/said")"
            return ;;
        *) fail "no $file: $(cat "$work/said")" ;;
    esac
    for words in "$@" '"paths":{"torus":"'"$torus"'","shared_paths":['; do
        [[ $(tr -d ' \n' < "$file") == *"$words"* ]] || fail "not $words: $(cat "$file")"
    done
}
paths rules.json 2x2 '"alpha":"7us"' '"alg":"ring"'
paths new.json 4
# Files that are no rules files, or cannot be written, are refused before the measurement.
echo '{"rule_file_version": 2}' > "$work/wrong.json"
refuse "\"rule_file_version\" must be 1" "$tool" launch -n 2 "$tool" topology --ports "--rules=$work/wrong.json"
refuse "Is a directory" "$tool" launch -n 2 "$tool" topology --ports "--rules=$work"
refuse "No such file" "$tool" launch -n 2 "$tool" topology --ports "--rules=$work/none/rules.json"
refuse "at least 1 byte" "$tool" launch -n 2 "$tool" topology --ports --bytes=0
refuse "leave out --rules" "$tool" launch -n 2 "$tool" topology --dump --rules=rules.json

# shared_paths_log VARIABLE…: the log line about shared paths, in an environment with these variables.
shared_paths_log() {
    "$tool" launch -n 4 env TRIVANCE_DEBUG=info "$@" "$tool" topology --ports --bytes=4K 2>&1 > /dev/null | grep "plans take into account"
    true
}
write_paths() {
    echo '{"rule_file_version": 1, "paths": {"torus": "4", "shared_paths": ['"$1"'], "one_path": false}, "collectives": {}}' \
        > "$work/$1.json"
}
write_paths true
write_paths false
[[ $(shared_paths_log "TRIVANCE_RULES_FILE=$work/true.json") == *"dimension 0 has a shared path (measured)"* ]] || fail "the file is not read"
[ -z "$(shared_paths_log "TRIVANCE_RULES_FILE=$work/false.json" TRIVANCE_PORTS=+0=lo,-0=lo)" ] || fail "the map goes before measurement"
[[ $(shared_paths_log TRIVANCE_PORTS=+0=lo,-0=lo) == *"dimension 0 has a shared path; "* ]] || fail "one interface for both is not a shared path"
output=$(TRIVANCE_DEBUG=info TRIVANCE_RULES_FILE=$work/true.json "$tool" launch -n 3 "$tool" topology --ports --bytes=4K 2>&1)
[[ $output == *"trivance: the measured paths are those of the torus 4"* ]] || fail "paths of another torus are ignored: $output"
[ -z "$(shared_paths_log)" ] || fail "a dimension on one host has a shared path"
