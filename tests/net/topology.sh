#!/usr/bin/env bash
# trivance topology --ports on this host, by trivance launch; tests/testbed/ports.sh has it on a network. What is measured
# here is memory, so that its verdict may be any. Usage: topology.sh TRIVANCE
set -u
tool=$1
fail() { echo "topology.sh: $*"; exit 1; }

# refuse WORDS COMMAND…: one line, exit code 2.
refuse() {
    local words=$1 said code
    shift
    said=$("$@" 2>&1)
    code=$?
    [ $code = 2 ] || fail "exit code $code, not 2: $*"
    [[ $said == *"$words"* && $said != *$'\n'* ]] || fail "not said '$words': $said"
}

refuse "no launcher has started this process" "$tool" topology --ports
refuse "leave --dump, --hosts and --output out" "$tool" topology --ports --dump
refuse "are for --ports" "$tool" topology --bytes=1K
refuse "has not 2 ranks" "$tool" launch -n 2 "$tool" topology --ports --torus=7
refuse "no interface 'eth77'" "$tool" launch -n 1 env TRIVANCE_PORTS=eth77 "$tool" topology --ports

rows=$("$tool" launch -n 4 "$tool" topology --ports --torus=2x2 --bytes=64K --format=csv 2> /dev/null)
[ $? -le 1 ] || fail "topology --ports fails"
awk -F, 'NR == 1 { if ($3 != "port" || $10 != "paths") exit 1; next }
    $8 > 0 && $9 > 0 && ($10 == "two" || $10 == "interface") { rows[$1]++ }
    END { exit !(rows[0] == 4 && rows[1] == 4 && rows[2] == 4 && rows[3] == 4) }' <<< "$rows" || fail "not the rows: $rows"
"$tool" launch -n 2 "$tool" topology --ports --bytes=4K 2> /dev/null | grep -q "^        0 .*\(two separate paths\|shared interface\)" ||
    fail "no table"
