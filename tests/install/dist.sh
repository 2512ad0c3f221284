#!/usr/bin/env bash
# `make dist` makes the same bytes in two clones, whatever the user's umask, time zone and git settings are, and the
# archive has the files of the commit, except the research, with its time; it can be configured, and its documents need
# no other files. Usage: dist.sh SOURCE BUILD; exit code 77: SOURCE is no git repository
set -eu -o pipefail
source=$1 build=$2
git -C "$source" rev-parse HEAD > /dev/null 2>&1 || { echo "skipped: $source is no git repository"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

archive() { # CLONE
    git clone -q --no-local "$source" "$work/$1"
    cp "$source/Makefile" "$work/$1/Makefile"
    make -s -C "$work/$1" dist > "$work/$1.out"
}
(umask 022; export TZ=UTC; archive first)
(umask 077; export TZ=Asia/Tokyo GZIP_OPT=-1 GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=tar.umask GIT_CONFIG_VALUE_0=user
 sleep 1; archive second)
name=$(basename "$work"/first/trivance-*.tar.gz)
cmp "$work/first/$name" "$work/second/$name"
[ "$(awk '{print $1}' "$work/first.out")" = "$(sha256sum "$work/second/$name" | awk '{print $1}')" ]

mkdir "$work/unpacked"
tar -xzf "$work/first/$name" -C "$work/unpacked"
cd "$work/unpacked/${name%.tar.gz}"
diff <(find . -type f -o -type l | sed 's|^\./||' | sort) \
    <(git -C "$source" ls-tree -r --name-only HEAD | grep -v '^research/' | sort)
[ "$(stat -c %Y README.md)" = "$(git -C "$source" log -1 --format=%ct)" ]

# Nothing in it needs the research.
cmake -S . -B "$work/build" -G Ninja -DTRIVANCE_MPI=OFF -DTRIVANCE_EXPLORER=OFF -DTRIVANCE_TORCH=OFF \
    > "$work/log" 2>&1 || { tail -20 "$work/log"; exit 1; }
mkdir -p "$work/site/headers"
cp -r include/trivance "$work/site/headers/"
python3 -B docs/site/pages.py . "$work/site"
tests/readme/documents.sh . "$build"
python3 -B tests/readme/named_files.py .
