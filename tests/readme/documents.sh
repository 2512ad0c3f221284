#!/usr/bin/env bash
# Documents and sources agree: every algorithm is documented, every section on an algorithm names an existing one, every
# relative link has a target, the version is the same everywhere, and no source file exceeds the length limit.
# Usage: documents.sh SOURCE BUILD
set -eu -o pipefail
source=$1 build=$2
cd "$source"
code=0
fault() { echo "documents: $*"; code=1; }

names=$("$build/bin/trivance" list --format=csv | tail -n +2 | cut -d, -f1 | tr -d '"')
for name in $names; do # in the table, which tables.py compares
    grep -q "^| \[\`$name\`\](" docs/algorithms.md || fault "docs/algorithms.md does not name $name"
done
for name in $(sed -n 's/^### `\(.*\)`$/\1/p' docs/algorithms.md); do
    grep -qx "$name" <<< "$names" || fault "docs/algorithms.md describes $name, which 'trivance list' does not know"
done

research=() # missing in the archive of `make dist`
[ ! -d research ] || research=(./research/*.md ./research/*/*.md)
while IFS=: read -r document link; do # "docs/tool.md:](networks.md)"
    link=${link#*(}
    [[ $link != *research/* || -d research ]] || continue
    [ -e "${document%/*}/${link%)}" ] || fault "${document#./} links to ${link%)}, which is not there"
done < <(grep -oHE '\]\([^)#: ]+\)' ./*.md ./docs/*.md "${research[@]}")

picture() { # FILE ARGUMENT…: compares the file with `trivance plan ARGUMENT… --format=svg`
    local file=$1
    shift
    "$build/bin/trivance" plan "$@" --format=svg | cmp -s - "$file" ||
        fault "$file is not what 'trivance plan $* --format=svg' draws; make it anew"
}
picture docs/trivance-l-9.svg 9 --algorithm trivance-l
picture docs/line-l-9m.svg 9m --algorithm line-l
picture docs/line-l-4mx4m.svg 4mx4m --algorithm line-l:2
picture docs/line-l-9-cut.svg 9 --cut 3:+0 --algorithm line-l
picture docs/broadcast-9.svg 9 --collective=broadcast --algorithm=trivance-tree
picture docs/disjoint-trees-3x3.svg 3x3 --collective=broadcast --algorithm=disjoint-trees:1:1 --rank=0
picture docs/scatter-9.svg 9 --collective=scatter --algorithm=trivance-tree
picture docs/alltoall-9.svg 9 --collective=alltoall --algorithm=trivance-tree --rank=0
picture docs/star-l-4x4.svg 4x4 --algorithm=star:l:1.0/0.1/-1.0_2.1/0.2/2.-1:1 --rank=5

version=$(sed -n 's/^project(trivance VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
grep -q "#define TRV_VERSION  *\"$version\"" include/trivance/common.h ||
    fault "common.h has another version than $version"
grep -q "^__version__ = \"$version\"" python/trivance/_library.py ||
    fault "python/trivance/_library.py has another version than $version"
grep -q "^trivance ($version) " <(head -1 debian/changelog) || fault "debian/changelog has another version than $version"

faults=$(find src testbed explorer include python bench examples tests ${research:+research} -name vendor -prune -o -name '*.[ch]' -print -o -name '*.[ch]pp' -print | xargs awk '
    FNR == 1 && !/^\/\*/ { print "documents: " FILENAME " does not open with a comment" }
    FNR == 551 { print "documents: " FILENAME " has more than 550 lines; 500 is the aim" }')
[ -z "$faults" ] || { echo "$faults"; code=1; }
exit $code
