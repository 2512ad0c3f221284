#!/usr/bin/env bash
# Starts the ranks of a job on hosts that do not forward, one rank on each: network namespaces in a ring or a chain of
# cables with a subnet each, or without cables, and a management network of all hosts.
#
#     cables.sh ring|chain|switch|none HOSTS PROGRAM [ARGUMENT…]
#
# Host r has the interfaces `right` and `left` towards hosts r + 1 and r - 1 (or both to one switch), and `mgmt`.
# MANAGEMENT=no leaves out `mgmt`; rank 0 is then reached by its cables only. PULL=R pulls the cable between hosts R and
# R + 1 when the program creates the file `begun` in the folder JOB_FILES; DOWN=R before the program starts.
# RANKS_ON_HOST (default 1) consecutive ranks are on one host, and the hosts are numbered in the order HOST_ORDER.
# PREFIX=16 gives all cables one network; the hosts then have a route to the other end of each cable (WAY=routes), or a
# rule for the source of each (WAY=rules), or neither. The management network has IPv4 addresses, with IPV6=global only
# IPv6 addresses, with IPV6=link only link-local ones. DOCKER=yes adds a bridge docker0, with the same address on each
# host. NAMED=yes reaches rank 0 by the name host0, which host 0 itself resolves to 127.0.1.1, as Debian sets it up. The
# exit status is that of the lowest rank that fails, 77 if the system has no such namespaces.
set -u
. "$(dirname "$0")/wait.sh"
no_namespaces() { echo "skipped: this system has no network namespaces with bridges"; exit 77; }
if [ "${CABLES_INSIDE-}" != yes ]; then
    unshare -Urnm true 2> /dev/null || no_namespaces
    CABLES_INSIDE=yes exec unshare -Urnm --kill-child --fork --pid --mount-proc "$0" "$@"
fi
shape=$1 hosts=$2
shift 2
mount -t tmpfs tmpfs /run && mkdir -p /run/netns && export PATH=$PATH:/usr/sbin:/sbin || no_namespaces

nodad=nodad # an IPv6 address is usable only after a second without it
case ${IPV6-} in # the addresses of the management network: a prefix, the number of the host, the length of the network
global) prefix=fd08:: length=64 master=fd08::1 ;;
link) prefix=fe80::8: length=64 master=fe80::8:1%mgmt ;;
*) prefix=10.8.0. length=16 master=10.8.0.1 nodad= ;;
esac

ip link add bridge type bridge && ip link set bridge up || no_namespaces
for ((r = 0; r < hosts; r++)); do
    ip netns add "host$r" && ip -n "host$r" link set lo up || no_namespaces
    if [ "${DOCKER-}" = yes ]; then # it has a link because it has a member
        ip -n "host$r" link add docker0 type bridge && ip -n "host$r" addr add 172.17.0.1/16 dev docker0
        ip -n "host$r" link add inside type veth peer name outside
        ip -n "host$r" link set outside master docker0 up && ip -n "host$r" link set inside up
        ip -n "host$r" link set docker0 up
    fi
    [ "${MANAGEMENT-}" = no ] && continue
    # The interface has another number on each host, which is the scope of its link-local addresses.
    ip link add "m$r" type veth peer name mgmt index $((100 + r)) netns "host$r" && ip link set "m$r" master bridge up
    ip -n "host$r" addr add "$prefix$((r + 1))/$length" dev mgmt $nodad && ip -n "host$r" link set mgmt up
done
# plug HOST INTERFACE ADDRESS OTHER TABLE: configures the end of a cable, whose other end has the address OTHER.
plug() {
    ip -n "$1" addr add "$3/${PREFIX-30}" dev "$2" && ip -n "$1" link set "$2" up
    case ${WAY-} in
        routes) ip -n "$1" route add "$4" dev "$2" ;;
        rules) ip -n "$1" route add 10.9.0.0/16 dev "$2" table "$5" && ip -n "$1" rule add from "$3" table "$5" ;;
    esac
}
cables=$hosts
[ "$shape" = ring ] || [ "$shape" = switch ] || cables=$((hosts - 1))
[ "$shape" != none ] || cables=0
[ "$shape" != switch ] || { ip link add switch type bridge && ip link set switch up; }
for ((r = 0; r < cables; r++)); do
    s=$(((r + 1) % hosts))
    if [ "$shape" = switch ]; then
        ip link add "r$r" type veth peer name right netns "host$r" && ip link set "r$r" master switch up
        ip link add "l$s" type veth peer name left netns "host$s" && ip link set "l$s" master switch up
    else
        ip -n "host$r" link add right type veth peer name left netns "host$s"
    fi
    plug "host$r" right "10.9.$r.1" "10.9.$r.2" 101
    plug "host$s" left "10.9.$r.2" "10.9.$r.1" 102
done

# The kernel reports the carrier of an interface after up to a second.
for ((r = 0; r < hosts; r++)); do
    while ip -n "host$r" -o link show up | grep -v LOOPBACK | grep -q -v 'state UP'; do sleep 0.05; done
done

[ -z "${DOWN-}" ] || ip -n "host$DOWN" link set right down
on_host=${RANKS_ON_HOST-1}
read -r -a order <<< "${HOST_ORDER-$(seq -s ' ' 0 $((hosts - 1)))}"
export WORLD_SIZE=$((hosts * on_host)) MASTER_PORT=29500 TRIVANCE_SECRET=$RANDOM$RANDOM MASTER_ADDR=$master
[ "${MANAGEMENT-}" != no ] || MASTER_ADDR=10.9.0.1
export JOB_FILES=/run # private to this script
if [ "${NAMED-}" = yes ]; then
    MASTER_ADDR=host0
    printf '127.0.0.1 localhost\n127.0.1.1 host0\n' > /run/hosts.0
    printf '127.0.0.1 localhost\n%s host0\n' "$master" > /run/hosts.1
fi
pids=()
for ((rank = 0; rank < WORLD_SIZE; rank++)); do
    r=${order[rank / on_host]}
    RANK=$rank ip netns exec "host$r" unshare --uts --mount sh -c '
        hostname "$0" && { [ "${NAMED-}" != yes ] || mount --bind "/run/hosts.$((RANK > 0))" /etc/hosts; } && exec "$@"
        ' "host$r" "$@" &
    pids+=($!)
done
if [ -n "${PULL-}" ]; then
    until [ -e "$JOB_FILES/begun" ] || ! kill -0 "${pids[0]}" 2> /dev/null; do sleep 0.05; done
    ip -n "host$PULL" link set right down
fi
wait_ranks "${pids[@]}"
