#!/usr/bin/env bash
# A wheel is built from a copy of the sources without a network, and works where nothing else of Trivance is; exit status 77
# where pip or setuptools is missing. Usage: wheel.sh SOURCE FOLDER
set -eu
source=$1 work=$2
python=/usr/bin/python3
"$python" -c 'import importlib.util, sys; sys.exit(any(importlib.util.find_spec(name) is None for name in ("pip", "setuptools", "wheel", "numpy")))' 2> /dev/null || { echo "skipped: pip, setuptools, wheel or numpy is missing"; exit 77; }
rm -rf "$work"
mkdir -p "$work/source" "$work/empty"
trap 'rm -rf "$work"' EXIT
tar -C "$source" --exclude-vcs --exclude='./build*' -c . | tar -C "$work/source" -x
cd "$work/source"
export CCACHE_BASEDIR=$PWD
"$python" -m pip wheel . --no-build-isolation --no-deps --no-index --disable-pip-version-check -q -w "$work" > "$work/log" 2>&1 ||
    { tail -40 "$work/log"; exit 1; }
wheel=$(echo "$work"/trivance-*.whl)
case $wheel in *-py3-none-linux_*.whl) ;; *) echo "wheel: $wheel is not for every Python 3 on this system"; exit 1 ;; esac
"$python" -m pip install --no-deps --no-index --disable-pip-version-check -q --root-user-action=ignore --target "$work/site" "$wheel"
cd "$work/empty"
PYTHONPATH=$work/site "$python" "$source/tests/python/installed.py" "$work/site"
for file in libtrivance.so.0 libtrivance_formats.so.0 libjansson.so.4 py.typed; do
    [ -e "$work/site/trivance/$file" ] || { echo "wheel: $file is not in it"; exit 1; }
done
error=$(PYTHONPATH=$work/site "$python" -c 'import trivance.torch' 2>&1) && { echo "wheel: it has trivance.torch"; exit 1; }
case $error in *"is not built, because TRIVANCE_TORCH is off, as in wheels"*) ;; *) echo "wheel: $error"; exit 1 ;; esac
! grep -rl "$work/source" "$work/site" || { echo "wheel: the files above name the folder that it was built in"; exit 1; }
