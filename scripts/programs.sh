#!/usr/bin/env bash
# Runs unmodified programs of Debian packages, each without and with the preload library, and compares their output.
# Usage: programs.sh [build folder]
#
#   mpi4py     objects and buffers from Python; the same text
#   netpipe    ping-pong, with both MPIs; exit status 0
#   hpcc       HPL, PTRANS, FFT, RandomAccess …; all of its own checks pass
#   lammps     LJ melt; thermodynamic output to 15 digits, or within the effect of another summation order
#   mumps      a sparse solver, Fortran; the same solution to 12 digits
#
# Most are linked with Open MPI. Programs that are not installed are left out and listed.
set -u
cd "$(dirname "$0")/.."
build=$PWD/${1:-build}
source=$PWD
. scripts/mpi-environment.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed="" left_out=""

# runs NAME MPI RANKS TORUS COMMAND…: runs the command without Trivance (output in NAME.plain) and with it (NAME.with),
# where Trivance must execute calls. Both read NAME.in as their input.
runs() {
    local name=$1 mpi=$2 ranks=$3 torus=$4 input=$work/$1.in
    shift 4
    [ -e "$input" ] || input=/dev/null
    mkdir -p "$work/$name" && cd "$work/$name" || return 1
    mpirun.$mpi -n "$ranks" "$@" > "../$name.plain" 2>&1 < "$input" &&
        "$build/bin/trivance" run --torus "$torus" --debug=info --debug-file="$work/$name.log" -- \
            mpirun.$mpi -n "$ranks" "$@" > "../$name.with" 2> "../$name.err" < "$input" &&
        grep -q '^trivance:   all[a-z]* *[^ m]' "../$name.log"
}

# same_numbers NAME DIGITS PATTERN: in lines that match, words must be equal, and numbers must agree to DIGITS digits.
same_numbers() {
    local side
    for side in plain with; do
        sed -n "/$3/p" "$work/$1.$side" > "$work/$1.$side.lines"
    done
    paste -d '\n' "$work/$1.plain.lines" "$work/$1.with.lines" | awk -v digits="$2" '
        NR % 2 == 1 { words = split($0, plain); next }
        { if (split($0, with) != words) exit 1
          for (i = 1; i <= words; i++) {
              d = plain[i] - with[i]; size = plain[i] < 0 ? -plain[i] : plain[i]
              if (plain[i] != with[i] && (d < 0 ? -d : d) > size * 10 ^ -digits) exit 1
              if (plain[i] != with[i] && plain[i] + 0 == 0) exit 1 }
          lines++ }
        END { if (lines < 1) exit 1 }'
}

# program NAME FILE COMMAND…: runs the command if FILE can be executed, and reports the result.
program() {
    local name=$1 file=$2
    shift 2
    if ! command -v "$file" > /dev/null; then
        left_out="$left_out $name"
    elif ("$@"); then
        echo "$name: the same without and with Trivance"
    else
        failed="$failed $name"
        echo "$name: FAILED; the last lines of its output and of Trivance's log:"
        tail -n 15 "$work/$name".{with,err,log} 2> /dev/null
    fi
}

try_mpi4py() {
    runs mpi4py openmpi 3 3 /usr/bin/python3 "$source/tests/preload/program.py" &&
        cmp "$work/mpi4py.plain" "$work/mpi4py.with" &&
        runs mpi4py openmpi 4 2x2 /usr/bin/python3 -m mpi4py.bench ringtest
}

try_netpipe() { runs "netpipe.$1" "$1" 2 2 "$2" -u 4096 -n 50 -o /dev/null; }

# Its output file contains the results of both runs, one after the other.
try_hpcc() {
    mkdir -p "$work/hpcc"
    sed 's/^1000 /200 /' /usr/share/doc/hpcc/examples/_hpccinf.txt > "$work/hpcc/hpccinf.txt"
    runs hpcc openmpi 4 2x2 hpcc &&
        [ "$(grep -c '^Success=1' "$work/hpcc/hpccoutf.txt")" = 2 ] &&
        ! grep -E 'FAILED|[1-9][0-9]* tests completed and failed' "$work/hpcc/hpccoutf.txt"
}

try_lammps() {
    cat > "$work/lammps.in" << 'END'
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
thermo 10
thermo_modify format float %20.15g
run 100
END
    runs lammps openmpi "$1" "$2" lmp -log none &&
        same_numbers lammps "$3" '^ *[0-9][0-9]* .*[0-9.e+-]*$'
}

try_mumps() {
    cp /usr/lib/mumps/input_simpletest_real "$work/mumps.in"
    runs mumps openmpi 3 3 /usr/lib/mumps/dsimpletest &&
        same_numbers mumps 12 'Solution is'
}

program mpi4py /usr/bin/python3 try_mpi4py
program netpipe.openmpi NPopenmpi try_netpipe openmpi NPopenmpi
program netpipe.mpich NPmpich2 try_netpipe mpich NPmpich2
program hpcc hpcc try_hpcc
program lammps lmp try_lammps 4 2x2 15 # sums pairs of pairs, as the MPI library does
program lammps lmp try_lammps 3 3 9    # may sum in another order
program mumps /usr/lib/mumps/dsimpletest try_mumps

[ -z "$left_out" ] || echo "skipped, not installed:$left_out"
[ -z "$failed" ] || echo "programs.sh: FAILED:$failed"
[ -z "$failed" ]
