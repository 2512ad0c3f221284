#!/usr/bin/env bash
# The shared libraries export exactly the functions that the public headers declare with TRV_API, each with a version,
# and libtrivance depends only on libc and libm. Every symbol that the archives define begins with trv_, and no two
# archives of a program define the same symbol. Usage: symbols.sh SOURCE BUILD
set -eu -o pipefail
source=$1 build=$2
code=0

declared() { # HEADER…: prints the names of the functions declared with TRV_API
    sed 's|//.*||' "$@" | tr '\n' ' ' | grep -oE 'TRV_API [^;(]*\(' | grep -oE '(trv|TRV)_[A-Za-z0-9_]+ *\($' |
        tr -d ' (' | sort -u
}

exported() { # LIBRARY: prints the names it exports, without those of GLIBC-like private versions
    nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }' | grep -v '@@*TRIVANCE_PRIVATE$' | sed 's/@.*//' | sort -u
}

compare() { # LIBRARY HEADER…
    local library=$1
    shift
    if ! diff --label 'declared in the headers' --label "exported by $(basename "$library")" -u \
        <(declared "$@") <(exported "$library"); then
        echo "symbols: $library and its headers disagree (- declared only, + exported only)"
        code=1
    fi
    if nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | grep -v '@@TRIVANCE_'; then
        echo "symbols: $library exports the names above without a version"
        code=1
    fi
}

core=$build/src/libtrivance.so
headers=()
for header in "$source"/include/trivance/*.h; do
    case $(basename "$header") in net.h | formats.h) ;; *) headers+=("$header") ;; esac
done
compare "$core" "${headers[@]}"
for library in "$build"/src/mpi/libtrivance_mpi_*.so; do
    [ ! -e "$library" ] || compare "$library" "$build"/bindings/trivance/trivance_mpi.h
done
net=$build/src/net/libtrivance_net.so
[ ! -e "$net" ] || compare "$net" "$source"/include/trivance/net.h
compare "$build"/src/formats/front/libtrivance_formats.so "$source"/include/trivance/formats.h

# The preload libraries export only names of MPI, and call only PMPI_ functions.
for library in "$build"/src/mpi/preload/libtrivance_pmpi_*.so; do
    [ -e "$library" ] || continue
    if nm -D --defined-only "$library" | awk '{ print $3 }' | grep -v -E '^(MPIX?|mpi)_'; then
        echo "symbols: $library exports the names above"
        code=1
    fi
    if nm -D --undefined-only "$library" | awk '{ print $2 }' | grep -E '^MPIX?_[A-Z][a-z]'; then
        echo "symbols: $library calls the names above, which a tool beneath it defines"
        code=1
    fi
done

needed=$(readelf -d "$core" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
    grep -v -E '^(libc|libm|libpthread)\.so|^ld-linux' || true)
if [ -n "$needed" ]; then
    echo "symbols: libtrivance.so needs" $needed "besides libc and libm"
    code=1
fi

defined() { # ARCHIVE: prints the global names that it defines
    nm -g --defined-only "$1" 2> /dev/null | awk 'NF == 3 { print $3 }' | sort
}

core=$build/src/libtrivance.a
for library in "$core" "$build"/src/formats/front/libtrivance_formats.a "$build"/src/net/libtrivance_net.a "$build"/src/mpi/libtrivance_mpi_*.a; do
    [ -e "$library" ] || continue
    if defined "$library" | grep -v -E '^(trv|TRV)_'; then
        echo "symbols: $library defines the names above, which do not begin with trv_ or TRV_"
        code=1
    fi
    if [ "$library" != "$core" ] && comm -12 <(defined "$core") <(defined "$library") | grep .; then
        echo "symbols: $library and libtrivance.a both define the names above"
        code=1
    fi
done

# The extension of the PyTorch backend exports only its entry point, apart from instantiations of templates in torch's
# headers (weak, unique).
for library in "$build"/python/trivance/torch/_C.*.so; do
    [ -e "$library" ] || continue
    if nm -D --defined-only "$library" | awk '$2 !~ /^[WVu]$/ { print $3 }' | grep -v -E '^(PyInit__C|__bss_start|_edata|_end)$'; then
        echo "symbols: $library exports the names above"
        code=1
    fi
done
exit $code
