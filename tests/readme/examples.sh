#!/usr/bin/env bash
# Runs every example of every help text and man page in an empty folder with the built tool in PATH, and checks its
# output by the rules below. Examples that would take long run on a smaller torus, and examples that start MPI jobs run
# with at most four ranks; these are skipped if there is no MPI, and examples of the explorer and of the figures are
# skipped if these are missing. Examples of the testbed are only parsed, because a machine can have only one testbed.
# Usage: examples.sh SOURCE BUILD
set -eu -o pipefail
source=$1 build=$2
. "$source/scripts/mpi-environment.sh"
for variable in ${!TRIVANCE_*}; do unset "$variable"; done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$build/bin/trivance" "$work/bin/trivance"
export PATH="$work/bin:$PATH" COLUMNS=200
launcher=$(command -v mpirun.openmpi || true)
if [ "$launcher" ]; then # stand-ins for the user's program and Slurm's launcher
    ln -s "$launcher" "$work/bin/mpirun"
    ln -s "$launcher" "$work/bin/srun"
    mpicc.openmpi "$source/tests/readme/program.c" -o "$work/program"
    mpirun -n 4 trivance topology --dump --torus=2x2 -o "$work/torus.json"
fi

# Prints the examples of a help text or of a man page.
examples_of_help() { trivance $1 --help | sed -n '/^Examples:/,$ { /^  /s/^  //p }'; }
examples_of_page() { sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/ { /^\.B\|^\.E\|^\.S/!p }' "$1"; }

# Reads an example and prints the command that is run instead of it.
smaller() {
    sed -e '/-n [0-9]/{s/4x4x4\|2x2x2\|3x3/2x2/g; s/--torus 9/--torus 4/; s/-n \(64\|128\|8\|9\) /-n 4 /}' \
        -e 's/16x16x16/4x4x4/; s/27x27/9x9/; /--nodes/!s/16x16/4x4/' \
        -e 's/64M/4K/; s/128M/1K/; s/8:[14]M/8:1K/; s/8x8\( --slow\|$\)/4x4\1/' \
        -e 's/figures --\(quick --only 6,17\)\?/figures --quick --only 6 --/; s/ --$//' \
        -e 's/^mpirun .* topology --why$/TRIVANCE_TORUS=2x2 &/' \
        -e 's/tune /&--time=100ms --bytes=64 /' -e 's/ bench --torus 4,2x2 --algorithm all/& --bytes=64/' \
        -e 's/\(mpirun.* bench \)\(.*\)/\1--iterations=3 \2/; s/ --transport=.*\|3 --torus 2x2$/& --bytes=64,4K/' \
        -e 's/\(trivance testbed .*\)\( -- .*\)/\1 --help\2/; t' \
        -e 's/trivance testbed [^&]*[^& ]/& --help/g' <<< "$1"
}

# holds DESCRIPTION OUTPUT: checks the output by the rule for the description; every description needs a rule here.
holds() {
    case "$1" in
    'the fastest schedule on a ring of 9, drawn')
        grep -q 'on a ring of 9: AllReduce .*(planned: the fastest at this size)' "$2" && grep -q '^rank 0$' "$2" ;;
    'every algorithm on three tori')
        [ "$(sed 1d "$2" | cut -d' ' -f1 | sort -u | wc -l)" = 3 ] &&
            [ -z "$(comm -23 <(trivance list --collective=allreduce --format=csv | sed 1d | cut -d, -f1 | tr -d '"' | sort) \
                <(sed 1d "$2" | awk '{print $2}' | sort -u))" ] ;;
    'how long it takes, packet by packet')
        grep -q 'packets of' "$2" && grep -q '^time ' "$2" && grep -q '^trivance .*us' "$2" ;;
    *) echo "no rule checks this example: $1" && false ;;
    esac
}

# Returns whether the file or folder named by an output option exists.
writes() {
    [[ $1 =~ --help ]] || [[ ! $1 =~ \ (-o\ [a-z]+\.|--output[\ =])[a-z.-]+ ]] ||
        [ -s "$(sed 's/^.*[ =]//' <<< "${BASH_REMATCH[0]}")" ]
}

count=0 failed=0 skipped=0
try() { # WHERE EXAMPLE
    local command=${2%%  *} description
    description=$(sed 's/^ *//' <<< "${2#"$command"}")
    if { [ -z "$launcher" ] && [[ $command =~ mpirun|srun ]]; } ||
        { [ ! -e "$build/bin/explorer.html" ] && [[ $command =~ ^trivance\ explore ]]; } ||
        { [ ! -d "$source/research" ] && [[ $command =~ ^trivance\ figures ]]; }; then
        skipped=$((skipped + 1))
        return
    fi
    count=$((count + 1))
    command=$(smaller "${command//mpirun.mpich/$(command -v mpirun.mpich || echo mpirun)}")
    [ -z "${ran[$command]-}" ] || return 0
    [[ $command =~ \ (-o|--output)[\ =]|\> ]] || ran[$command]=1 # commands that write files run in every folder
    if ! timeout 100 bash -eu -o pipefail -c "$command" < /dev/null > "$work/output" 2> "$work/messages" ||
        { [ "$description" ] && ! holds "$description" "$work/output" > "$work/messages"; } || ! writes "$command"
    then
        echo "$1: $2"
        [ "$command" = "$2" ] || echo "    tried as $command"
        cat "$work/output" "$work/messages"
        failed=$((failed + 1))
    fi
}

try_all() { # WHERE LINES: runs all examples in a folder with a user's files
    local folder=$work/folder line
    rm -rf "$folder"
    mkdir "$folder"
    cd "$folder"
    echo '{"torus": "8", "algorithm": "ring,trivance", "bytes": "1K"}' > grid.json
    echo 'print("trained")' > train.py
    [[ ! $2 =~ mine.json ]] || trivance plan 8x8 --algorithm=trivance-l --format=json -o mine.json
    if [ "$launcher" ]; then
        cp "$work/program" program
        cp "$work/program" a.out
        [[ $2 =~ --dump ]] || cp "$work/torus.json" .
    fi
    while IFS= read -r line; do
        try "$1" "$line"
    done <<< "$2"
}

declare -A ran   # commands that occur in a help text and a page, or in two pages
declare -A tried # blocks of examples: a subcommand's page contains those of its help
subcommands=$(trivance --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
parts=$(trivance testbed --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/testbed \1/p')
[ "$(wc -w <<< "$subcommands")" -ge 13 ] && [ "$(wc -l <<< "$parts")" -ge 6 ]
while IFS= read -r name; do
    lines=$(examples_of_help "$name")
    [ "$lines" ] || { echo "trivance $name --help has no examples" && failed=$((failed + 1)); }
    try_all "trivance $name --help" "$lines"
    tried[$lines]=1
done <<< "
$subcommands
$parts"
for page in "$build"/man/*.1; do
    lines=$(examples_of_page "$page")
    [ -z "$lines" ] || [ "${tried[$lines]-}" ] || try_all "$(basename "$page")" "$lines"
done
echo "$count examples, $failed failed, $skipped skipped"
[ $failed = 0 ] && [ $count -gt 50 ]
