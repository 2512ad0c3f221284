#!/usr/bin/env bash
# Runs the two commands of README.md, as printed there, on a fresh machine: a minimal Debian 12 with git and make, into
# which the committed tree is cloned. It fails if a command fails, or if a test is skipped, because these commands
# install everything that their tests need.
#
# The fresh machine is a folder, which is removed at the end, with namespaces of its own for mounts, processes and the
# host name. Its packages come from the Debian sources of this machine's apt, through the same proxy. Needs root.
set -eu -o pipefail
cd "$(dirname "$0")/.."

# The second part, in the namespaces: sets up the root and runs the commands.
if [ "${1-}" = inside ]; then
    root=$2 began=$SECONDS
    mapfile -t sources < "$root.sources"
    mapfile -t proxy < <(apt-config dump | sed -n '/^Acquire::[a-z]*::Proxy /s/^/--aptopt=/p')
    echo "==== A minimal Debian 12"
    mmdebstrap --quiet --mode=root --variant=minbase --include=git,make,ca-certificates --dpkgopt=force-unsafe-io \
        ${proxy[@]+"${proxy[@]}"} bookworm "$root" "${sources[@]}"
    git clone --quiet "file://$PWD" "$root/root/trivance"
    awk '/^```sh$/ { inside = 1; next } /^```$/ && inside { exit } inside' README.md > "$root/root/commands"
    hostname fresh
    echo "127.0.0.1 localhost fresh" > "$root/etc/hosts"
    # The folder becomes the root, because a process in a chroot cannot create the user namespaces that tests need.
    mount --bind "$root" "$root"
    cd "$root"
    mount -t proc proc proc
    mount --rbind /dev dev
    mount --rbind /sys sys
    mkdir old
    pivot_root . old
    umount --lazy /old
    echo "---- done in $((SECONDS - began)) s"
    exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        ${http_proxy+"http_proxy=$http_proxy"} ${https_proxy+"https_proxy=$https_proxy"} \
        bash -c 'cd /root/trivance && bash -ev ../commands'
fi

refuse() { echo "make check-fresh: $*" >&2; exit 2; }
[ "$(id -u)" = 0 ] || refuse "only root can set up a Debian root in a folder, for example with: sudo make check-fresh"
command -v mmdebstrap > /dev/null || scripts/dependencies.sh fresh || true
command -v mmdebstrap > /dev/null || refuse "mmdebstrap is not installed; Debian and Ubuntu have a package of this name"
folder=$(mktemp -d /var/tmp/trivance-fresh.XXXXXX)
trap 'rm -rf --one-file-system "$folder"' EXIT
root=$folder/root
apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
    sed -n '/ bookworm/p' | sort -u > "$root.sources"
[ -s "$root.sources" ] || refuse "apt on this machine has no package lists of Debian 12 (bookworm); see /etc/apt and apt-get update"
[ -z "$(git status --porcelain)" ] || echo "Uncommitted changes are not part of the tree that is tested."

began=$SECONDS
unshare --mount --pid --uts --fork --kill-child scripts/fresh.sh inside "$root" < /dev/null

skipped=$root/root/trivance/build/check/skipped
if [ -s "$skipped" ]; then
    echo "make check-fresh: FAILED, because tests are skipped on a fresh machine:"
    cat "$skipped"
    exit 1
fi
echo "make check-fresh: passed in $((SECONDS - began)) s"
