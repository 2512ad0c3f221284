#!/usr/bin/env bash
# How --output treats an existing file: it is replaced only after all output has been written, symbolic links are
# followed, modes are kept, devices and FIFOs are written in place, read-only files are refused, and a signal leaves no
# partial file. Usage: output.sh TRIVANCE
set -u
trivance=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
code=0
fault() { echo "output: $*"; code=1; }
draw() { "$trivance" plan 3 --format=svg -o "$1" 2> errors; }
drawn() { head -c 4 "$1" | grep -q '<svg'; }

draw new.svg && drawn new.svg || fault "a new file"
[ "$(stat -c %a new.svg)" = "$(printf '%o' $((0666 & ~$(umask))))" ] || fault "the mode of a new file"

echo old > private.svg && chmod 600 private.svg
draw private.svg && drawn private.svg || fault "a file that is there"
[ "$(stat -c %a private.svg)" = 600 ] || fault "a private file is not private any more"

mkdir folder && echo old > folder/target.svg && ln -s folder/target.svg link.svg && ln -s ../new2.svg folder/dangling.svg
draw link.svg && [ -L link.svg ] && drawn folder/target.svg || fault "a link is replaced"
draw folder/dangling.svg && [ -L folder/dangling.svg ] && drawn new2.svg || fault "a link to what is not there yet"

ln -s ring1 ring2 && ln -s ring2 ring1
draw ring1 && fault "links that lead in a ring are written"
[ -L ring1 ] && grep -q "'ring1' cannot be written" errors || fault "links that lead in a ring are replaced: $(cat errors)"
draw "" && fault "a file without a name is written"

echo old > readonly.svg && chmod 444 readonly.svg
draw readonly.svg && fault "a read-only file is written"
[ "$(cat readonly.svg)" = old ] && grep -q read-only errors || fault "a read-only file is changed, or no error is reported"

mkfifo pipe && { cat pipe > through.svg & } && draw pipe && wait && [ -p pipe ] && drawn through.svg || fault "a FIFO"
draw /dev/stdout > stdout.svg && drawn stdout.svg || fault "/dev/stdout"
if mknod full c 1 7 2> /dev/null && echo > full 2> errors; [ -c full ] && grep -q "No space" errors; then
    draw full && fault "a full device is no error"
    [ -c full ] || fault "a device is replaced"
fi
draw folder && fault "a folder is written"

# Two outputs to one file are refused, and the existing file is kept. /dev/stdout is stdout itself.
both() {
    local file=$1
    shift
    echo kept > "$file"
    "$trivance" "$@" >> "$file" 2> errors
    [ $? = 2 ] && [ "$(cat "$file")" = kept ] && grep -q "stdout is redirected to the file '$file'" errors || fault "stdout and $file: $(cat errors)"
}
both trace.json simulate 9 -a ring -b 1K --trace=trace.json
both both.svg plan 3 --format=svg -o both.svg
"$trivance" simulate 9 -a ring -b 1K --trace=/dev/stdout > trace.json 2> errors && fault "a trace on stdout"

# In a folder in which no file can be created, the existing file cannot be replaced, so it stays unchanged.
if [ "$(id -u)" = 0 ] && command -v runuser > /dev/null; then
    chmod 755 . && mkdir closed && echo old > closed/file.svg && chmod 666 closed/file.svg
    runuser -u nobody -- "$trivance" plan 3 --format=svg -o "$work/closed/file.svg" 2> errors &&
        fault "a file in a folder that takes none is written"
    [ "$(cat closed/file.svg)" = old ] || fault "a file in a folder that takes no new one is lost"
fi

# Signals interrupt the tool while it writes a schedule that takes seconds to write.
for signal in INT TERM HUP PIPE XFSZ; do
    echo old > big.json
    env --default-signal="$signal" timeout -s "$signal" 0.4 "$trivance" plan 243 --algorithm=bucket --format=json -o big.json 2> errors
    [ "$(cat big.json)" = old ] || fault "SIG$signal: what was there is lost"
    [ -z "$(ls big.json.* 2> /dev/null)" ] || fault "SIG$signal leaves $(ls big.json.*)"
done
(ulimit -f 20; "$trivance" plan 27 --algorithm=bucket --format=json -o limited.json) 2> errors && fault "no limit of a file's size"
[ -z "$(ls limited.json* 2> /dev/null)" ] || fault "the limit of a file's size leaves $(ls limited.json*)"
if [ -c /dev/full ]; then
    "$trivance" plan 9 > /dev/full 2> errors && fault "a full device is no error"
    [ "$(wc -l < errors)" = 1 ] || fault "an error is reported twice: $(cat errors)"
fi
[ -z "$(find . -name '*.svg.*')" ] || fault "temporaries are left: $(find . -name '*.svg.*')"
exit $code
