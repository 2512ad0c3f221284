#!/usr/bin/env bash
# Builds the Debian packages from a copy of the sources and unpacks them into a folder: first those without MPI, then the
# others; runs the tool from there, and compiles and runs the examples with what is there. lintian, where it is
# installed, has nothing to say. Exit status 77 where packages cannot be built. Usage: packages.sh SOURCE
set -eu -o pipefail
source=$1
. "$source/scripts/mpi-environment.sh"

skip() { echo "packages: skipped: $*"; exit 77; }
command -v dpkg-buildpackage > /dev/null || skip "there is no dpkg-buildpackage"
# The backend for PyTorch is packaged where PyTorch is there.
if dpkg-query -W -f '${db:Status-Status}\n' python3-torch libtorch-dev pybind11-dev 2> /dev/null | sort -u | cmp -s - <(echo installed) &&
   [ "$(dpkg-query -W python3-torch libtorch-dev pybind11-dev 2> /dev/null | wc -l)" = 3 ]; then
    export DEB_BUILD_PROFILES=pkg.trivance.torch
fi
unmet=$(dpkg-checkbuilddeps "$source/debian/control" 2>&1) || skip "$unmet"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/trivance"
tar -C "$source" --exclude-vcs --exclude='./build*' -c . | tar -C "$work/trivance" -x

echo "== build"
# Without optimisation, which is half the time: this is about what the packages hold.
export DEB_BUILD_OPTIONS="nocheck noautodbgsym noopt parallel=$(nproc)"
(cd "$work/trivance" && dpkg-buildpackage -b -us -uc) > "$work/log" 2>&1 || { tail -40 "$work/log"; exit 1; }
if grep 'found in none of the libraries' "$work/log"; then # a symbol of a library that is not linked
    exit 1
fi
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
examples() { # FOLDER: by CMake, from the sources that the package has
    cmake -S "$root/usr/share/doc/libtrivance-dev/examples" -B "$work/$1" -DCMAKE_PREFIX_PATH="$root/usr" > /dev/null
    cmake --build "$work/$1" > /dev/null
}
cd "$work"

echo "== trivance, libtrivance0, libtrivance-dev"
unpack trivance libtrivance0 libtrivance-dev
"$root/usr/bin/trivance" verify 9 --algorithm trivance-b
[ -e "$root/usr/share/man/man1/trivance-plan.1.gz" ]
cc "$source/examples/schedule.c" $(pkg-config --cflags --libs trivance) -o schedule
readelf -d schedule | grep -q 'NEEDED.*libtrivance.so.0'
./schedule > schedule.out
examples core
./core/schedule | cmp - schedule.out
[ ! -e core/allreduce_mpi.openmpi ]

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
import torch, torch.distributed as dist, trivance_torch
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
