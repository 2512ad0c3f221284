#!/usr/bin/env bash
# The list of all Debian packages that Trivance needs: `dependencies.sh build`, `dependencies.sh build check`. As root
# it installs missing packages, and waits up to five minutes if another program is installing some; otherwise it prints
# the command that installs them, and fails. On a system without dpkg it prints the requirements and leaves the checks
# to CMake.
set -eu

build="build-essential cmake ninja-build pkg-config python3 libcmocka-dev libjansson-dev libfabric-dev
       libhwloc-dev libpmix-dev libopenmpi-dev openmpi-bin libmpich-dev mpich"
check="iproute2 python3-mpi4py python3-numpy python3-matplotlib python3-pytest"
clang="clang libclang-rt-dev llvm"
netpipe="netpipe-openmpi netpipe-mpich2"
python="python3-pandas python3-networkx python3-nbclient python3-ipykernel python3-tqdm python3-setuptools
        python3-wheel python3-pip mypy"
slurm="slurmctld slurmd slurm-client munge"
check_all="$clang $netpipe $python $slurm libfabric-bin valgrind clang-format-14 clang-tidy-14 pycodestyle mandoc spin debhelper
           protobuf-compiler locales"
docs="mkdocs mkdocs-material doxygen"
testbed="iproute2"
# For the explorer, which is built if all of these are installed: clang for WebAssembly, and the tools that test its
# page.
explorer="clang-14 lld-14 wasi-libc libclang-rt-14-dev-wasm32 esbuild nodejs"
browser="chromium npm node-typescript"
# node and npm from another source conflict with Debian's packages.
command -v node > /dev/null && explorer=${explorer/ nodejs/}
command -v npm > /dev/null && browser=${browser/ npm/}
programs="hpcc lammps mumps-test"
torch="python3-torch libtorch-dev pybind11-dev"
fresh="mmdebstrap"

wanted=""
for group in "$@"; do
    case $group in
    build) wanted="$wanted $build" ;;
    check) wanted="$wanted $check" ;;
    check-all) wanted="$wanted $check_all" ;;
    docs) wanted="$wanted $docs" ;;
    clang) wanted="$wanted $clang" ;;
    netpipe) wanted="$wanted $netpipe" ;;
    testbed) wanted="$wanted $testbed" ;;
    programs) wanted="$wanted $programs" ;;
    explorer) wanted="$wanted $explorer" ;;
    browser) wanted="$wanted $browser" ;;
    torch) wanted="$wanted $torch" ;;
    fresh) wanted="$wanted $fresh" ;;
    *) echo "dependencies.sh: '$group' is not a group of packages: expected build, check, check-all, docs, clang, netpipe, testbed, programs, explorer, browser, torch or fresh" >&2; exit 2 ;;
    esac
done

if ! command -v dpkg-query > /dev/null; then
    echo "This system has no dpkg. CMake looks for the libraries and programs of these Debian packages:" >&2
    echo $wanted >&2
    exit 0
fi

missing=""
for package in $wanted; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ]; then
    echo "Packages are missing. This command installs them:" >&2
    echo "    sudo apt-get install --no-install-recommends$missing" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes
echo "Installing:$missing"
# apt-get's own timeout covers the lock of installations, but not that of the package lists.
run_apt() {
    local deadline=$((SECONDS + 300)) errors
    until errors=$(apt-get -qq -o DPkg::Lock::Timeout=300 "$@" 2>&1 > /dev/null); do
        [[ $errors == *"Could not get lock"* && $SECONDS -lt $deadline ]] || { echo "$errors" >&2; return 1; }
        sleep 2
    done
}
install() { run_apt install -y --no-install-recommends $missing; }
if ! run_apt install -s $missing 2> /dev/null; then # the package lists are missing or outdated
    run_apt update
fi
install || { run_apt update; install; }
