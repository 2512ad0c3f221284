#!/usr/bin/env bash
# Debian packages, in three steps. `compile` compiles a copy of the sources, `build` makes the packages. `use` unpacks them
# into a folder, first those without MPI, then the others; runs the tool from there, and compiles and runs the examples
# with what is there. lintian, where it is installed, reports nothing. Exit status 77 where packages cannot be built.
# Usage: packages.sh compile|build|use SOURCE BUILD FOLDER; FOLDER keeps what the next step needs
set -eu -o pipefail
step=$1 source=$2 build=$3 work=$4
. "$source/scripts/mpi-environment.sh"

skip() { echo "packages: skipped: $*"; exit 77; }
command -v dpkg-buildpackage > /dev/null || skip "there is no dpkg-buildpackage"
# The backend for PyTorch is packaged where PyTorch is there.
if dpkg-query -W -f '${db:Status-Status}\n' python3-torch libtorch-dev pybind11-dev 2> /dev/null | sort -u | cmp -s - <(echo installed) &&
   [ "$(dpkg-query -W python3-torch libtorch-dev pybind11-dev 2> /dev/null | wc -l)" = 3 ]; then
    export DEB_BUILD_PROFILES=pkg.trivance.torch
fi
unmet=$(dpkg-checkbuilddeps "$source/debian/control" 2>&1) || skip "$unmet"

# run_debian ARGUMENT…: dpkg-buildpackage, in the copy of the sources.
run_debian() {
    export DEB_BUILD_OPTIONS="nocheck noautodbgsym noopt parallel=$(nproc)"
    export DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1
    (cd "$work/trivance" && PATH=$work/bin:$PATH dpkg-buildpackage "$@" -us -uc) > "$work/log" 2>&1 ||
        { tail -40 "$work/log"; rm -rf "$work"; exit 1; }
}

if [ "$step" = compile ]; then
    rm -rf "$work"
    mkdir -p "$work/trivance" "$work/bin"
    tar -C "$source" --exclude-vcs --exclude='./build*' -c . | tar -C "$work/trivance" -x
    # The test checks the contents of the packages, so the compilers neither optimise, whatever the options of the build,
    # nor add debug information. The objects of the explorer have the same options as in the normal build and are copied
    # from there if they are newer than their source. The packages are compressed as little as lintian accepts.
    for compiler in cc c++; do
        printf '#!/bin/sh\nexec %s "$@" -O0 -g0\n' "$(command -v $compiler)" > "$work/bin/$compiler"
    done
    cat > "$work/bin/clang-14" << END
#!/bin/bash
object=\${@: -1} name=\${object##*/wasm/objects/}
made=$build/src/explore/wasm/objects/\$name
[ "\$object" != "\$name" ] && [ "\$made" -nt "$source/src/\${name%.o}" ] && cp "\$made" "\$object" &&
    cp "\$made.d" "\$object.d" || exec $(command -v clang-14) "\$@"
END
    chmod +x "$work"/bin/*
    run_debian --target=build
    exit
fi

if [ "$step" = build ]; then
    [ -d "$work/trivance" ] || skip "nothing was compiled"
    run_debian -b -nc
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
