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
refuse "leave --dump, --hosts and --output out" "$tool" topology --ports --dump
refuse "are for --ports" "$tool" topology --bytes=1K
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
    refuse "in '$ports'; it lists which interface leads which way, as in +0=eth1" "$tool" launch -n 1 \
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
refuse "are for --ports" "$tool" topology "--rules=$work/rules.json"
cat > "$work/rules.json" << 'RULES'
{"rule_file_version": 1, "network": {"alpha": "7us"},
 "collectives": {"allreduce": [{"rules": [{"alg": "ring"}]}]}}
RULES
paths() {
    local name=$1
    shift
    "$tool" launch -n 4 "$tool" topology --ports --bytes=64K "$@" > /dev/null 2> "$work/log"
    [ $? -le 1 ] || fail "no $name: $(cat "$work/log")"
    tr -d ' \n' < "$work/$name"
}
[[ $(paths rules.json --torus=2x2 "--rules=$work/rules.json") == *'"alpha":"7us"'*'"alg":"ring"'*'"paths":{"torus":"2x2","narrow":['* ]] ||
    fail "not the rules: $(cat "$work/rules.json")"
[[ $(paths new.json "--rules=$work/new.json") == *'"paths":{"torus":"4","narrow":['* ]] || fail "no new file"
echo '{"rule_file_version": 2}' > "$work/wrong.json"
"$tool" launch -n 2 "$tool" topology --ports --bytes=4K "--rules=$work/wrong.json" > "$work/out" 2> "$work/log"
[ $? = 2 ] && grep -q "\"rule_file_version\" must be 1" "$work/log" || fail "a wrong file is taken: $(cat "$work/log")"

# narrow_log VARIABLE…: the log line about shared paths, in an environment with these variables.
narrow_log() {
    "$tool" launch -n 4 env TRIVANCE_DEBUG=info "$@" "$tool" topology --ports --bytes=4K 2>&1 > /dev/null | grep "plans count on"
    true
}
narrow() { sed "/\"narrow\"/,/]/s/true\|false/$1/" "$work/new.json" > "$work/$1.json"; }
narrow true
narrow false
[[ $(narrow_log "TRIVANCE_RULES_FILE=$work/true.json") == *"dimension 0 is narrow (measured)"* ]] || fail "the file is not read"
[ -z "$(narrow_log "TRIVANCE_RULES_FILE=$work/false.json" TRIVANCE_PORTS=+0=lo,-0=lo)" ] || fail "the map goes before measurement"
[[ $(narrow_log TRIVANCE_PORTS=+0=lo,-0=lo) == *"dimension 0 is narrow: "* ]] || fail "one interface for both is not narrow"
output=$(TRIVANCE_DEBUG=info TRIVANCE_RULES_FILE=$work/true.json "$tool" launch -n 3 "$tool" topology --ports --bytes=4K 2>&1)
[[ $output == *"trivance: the measured paths are those of the torus 4"* ]] || fail "paths of another torus are ignored: $output"
[ -z "$(narrow_log)" ] || fail "a dimension on one host is narrow"
