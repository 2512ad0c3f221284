#!/usr/bin/env bash
# Builds and tests the Debian packages, in four steps that each take less than a minute. `explorer` configures a copy of
# the sources and compiles the explorer, `compile` compiles everything else, `build` makes the packages. `use` unpacks
# them into a folder, first those without MPI, then the others; it runs the tool from there, and compiles and runs the
# examples that the unpacked packages support. lintian, if it is installed, must report nothing. Exit status 77 if
# packages cannot be built.
# Usage: packages.sh explorer|compile|build|use SOURCE FOLDER; FOLDER keeps the files that the next step needs
set -eu -o pipefail
step=$1 source=$2 work=$3
. "$source/scripts/mpi-environment.sh"

skip() { echo "packages: skipped: $*"; exit 77; }
command -v dpkg-buildpackage > /dev/null || skip "dpkg-buildpackage is not installed"
# The backend for PyTorch is packaged if PyTorch is installed.
if dpkg-query -W -f '${db:Status-Status}\n' python3-torch libtorch-dev pybind11-dev 2> /dev/null | sort -u | cmp -s - <(echo installed) &&
   [ "$(dpkg-query -W python3-torch libtorch-dev pybind11-dev 2> /dev/null | wc -l)" = 3 ]; then
    export DEB_BUILD_PROFILES=pkg.trivance.torch
fi
unmet=$(dpkg-checkbuilddeps "$source/debian/control" 2>&1) || skip "$unmet"

# The test checks the contents of the packages, so they are compiled without optimisation and debug information and
# compressed as little as lintian accepts.
export DEB_BUILD_OPTIONS="nocheck noautodbgsym noopt parallel=$(nproc)" DEB_CFLAGS_STRIP=-g DEB_CXXFLAGS_STRIP=-g
export CCACHE_BASEDIR=$work/trivance
export DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1

# in_copy COMMAND…: runs a command in the copy of the sources; prints the end of its log only if it fails.
in_copy() {
    (cd "$work/trivance" && "$@") > "$work/log" 2>&1 || { tail -40 "$work/log"; rm -rf "$work"; exit 1; }
}

if [ "$step" = explorer ]; then
    rm -rf "$work"
    mkdir -p "$work/trivance"
    tar -C "$source" --exclude-vcs --exclude='./build*' -c . | tar -C "$work/trivance" -x
    in_copy debian/rules override_dh_auto_configure
    folder=$(echo "$work"/trivance/obj-*)
    targets=$(ninja -C "$folder" -t targets)
    ! grep -q '^explorer: ' <<< "$targets" || in_copy cmake --build "$folder" --target explorer
    exit
fi

[ "$step" = use ] || [ -d "$work/trivance" ] || skip "the previous step did not succeed"
if [ "$step" = compile ]; then
    in_copy dpkg-buildpackage --target=build -nc -us -uc
    exit
fi

if [ "$step" = build ]; then
    in_copy dpkg-buildpackage -b -nc -us -uc
    if grep 'found in none of the libraries' "$work/log"; then # a symbol of a library that is not linked
        exit 1
    fi
    rm -r "$work/trivance"
    exit
fi

ls "$work"/*.deb > /dev/null 2>&1 || skip "no packages were built"
trap 'rm -rf "$work"' EXIT
if command -v lintian > /dev/null; then
    echo "== lintian"
    lintian --allow-root --fail-on error,warning "$work"/*.changes
fi

root=$work/root
libdir=$root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
unpack() { # PACKAGE…
    local package
    for package in "$@"; do
        dpkg-deb -x "$work/${package}"_*.deb "$root"
    done
}
examples() { # FOLDER: builds them by CMake, from the sources in the package
    cmake -S "$root/usr/share/doc/libtrivance-dev/examples" -B "$work/$1" -DCMAKE_PREFIX_PATH="$root/usr" > /dev/null
    cmake --build "$work/$1" > /dev/null
}
cd "$work"

echo "== trivance, libtrivance0, libtrivance-formats0, libtrivance-dev"
unpack trivance libtrivance0 libtrivance-formats0 libtrivance-dev
"$root/usr/bin/trivance" verify 9 --algorithm trivance-b
[ -e "$root/usr/share/man/man1/trivance-plan.1.gz" ]
cc "$source/examples/schedule.c" $(pkg-config --cflags --libs trivance) -o schedule
readelf -d schedule | grep -q 'NEEDED.*libtrivance.so.0'
./schedule > schedule.out
examples core
./core/schedule | cmp - schedule.out
[ ! -e core/allreduce_mpi.openmpi ]

echo "== python3-trivance"
unpack python3-trivance
[ ! -e "$root/usr/lib/python3/dist-packages/trivance/libtrivance.so.0" ]
if /usr/bin/python3 -c 'import numpy' 2> /dev/null; then
    PYTHONPATH=$root/usr/lib/python3/dist-packages /usr/bin/python3 "$source/tests/python/installed.py" "$root/usr/lib/python3"
fi

for mpi in openmpi mpich; do
    echo "== trivance-$mpi, libtrivance-$mpi-dev"
    unpack trivance-$mpi libtrivance-$mpi-dev
    examples $mpi
    mpirun.$mpi -n 3 ./$mpi/allreduce_mpi.$mpi
    "$root/usr/bin/trivance" run --torus 3 -- mpirun.$mpi -n 3 ./$mpi/allreduce_mpi.$mpi
    mpirun.$mpi -n 3 "$root/usr/bin/trivance" bench --bytes 8 --algorithm trivance
done

echo "== libtrivance-net0, libtrivance-net-dev"
unpack libtrivance-net0 libtrivance-net-dev
examples net
"$root/usr/bin/trivance" launch -n 3 -- ./net/allreduce_net

if [ -n "${DEB_BUILD_PROFILES:-}" ]; then
    echo "== python3-trivance-torch"
    unpack python3-trivance-torch
    PYTHONWARNINGS=ignore PYTHONPATH=$root/usr/lib/python3/dist-packages "$root/usr/bin/trivance" launch -n 3 -- /usr/bin/python3 -c '
import torch, torch.distributed as dist, trivance.torch
dist.init_process_group("trivance")
x = torch.ones(1000)
dist.all_reduce(x)
assert x.tolist() == [3] * 1000
dist.destroy_process_group()'
fi

component=$libdir/trivance/openmpi
if [ -e "$component" ]; then
    echo "== the component of Open MPI"
    export OMPI_MCA_mca_base_component_path=$component:SYSTEM_DEFAULT
    ompi_info --param coll trivance --level 9 | grep coll_trivance_priority
fi
