#!/usr/bin/env python3
"""One rank on a testbed without forwarding (cables.sh), over plain sockets.

    cables.py reach           checks the interfaces of the node, that its neighbours and, in the management network, all
                              nodes can be reached, and that no other node can be reached over the cables
    cables.py stream SECONDS  sends numbers to the neighbour at port +0 and receives those of the one at -0; prints
                              "begun" when these connections exist. None may be missing at the end.
"""
import errno
import ipaddress
import json
import os
import socket
import subprocess
import sys
import threading
import time

RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
PORT = 5077
DEADLINE = time.monotonic() + 60


def expect(condition, text):
    if not condition:
        sys.exit(f"rank {RANK}: {text}")


def interfaces():
    """The IPv4 interfaces of this node by name, without the loopback."""
    shown = json.loads(subprocess.run(["ip", "-j", "-4", "addr"], capture_output=True, check=True).stdout)
    return {at["ifname"]: ipaddress.ip_interface(f'{at["addr_info"][0]["local"]}/{at["addr_info"][0]["prefixlen"]}')
            for at in shown if at["ifname"] != "lo"}


def opposite(interface):
    """The address at the other end of a cable."""
    ends = list(interface.network.hosts())
    expect(len(ends) == 2 and interface.ip in ends, f"{interface} is not an end of a cable")
    return str(ends[1 - ends.index(interface.ip)])


def connect(address):
    """Connects as soon as the other rank listens."""
    while True:
        try:
            return socket.create_connection((address, PORT), timeout=20)
        except ConnectionRefusedError:
            expect(time.monotonic() < DEADLINE, f"{address} does not listen")
            time.sleep(0.05)


def received(connection):
    data = b""
    while part := connection.recv(4096):
        data += part
    return data


def report(text):
    """Prints a line with one call of write(), so that lines of several ranks are not joined."""
    sys.stdout.write(f"{RANK}: {text}\n")


def reach():
    own = interfaces()
    management = own.pop("mgmt0", None)
    with open("/proc/sys/net/ipv4/ip_forward", encoding="ascii") as file:
        expect(file.read() == "0\n", "the node forwards")
    routes = json.loads(subprocess.run(["ip", "-j", "route"], capture_output=True, check=True).stdout)
    networks = [str(at.network) for at in own.values()] + ([str(management.network)] if management else [])
    expect(sorted(at["dst"] for at in routes) == sorted(networks), f"routes {routes}, but subnets {networks}")
    expect(len(set(networks)) == len(networks), f"cables share a subnet: {networks}")
    expected = len(own) + (RANKS - 1 if management else 0)  # connections to this node
    listening = socket.create_server(("", PORT), backlog=64)
    description = json.dumps([str(at.ip) for at in own.values()]).encode()

    def serve():
        for _ in range(expected):
            connection, _ = listening.accept()
            connection.sendall(description)
            connection.close()

    server = threading.Thread(target=serve, daemon=True)
    server.start()
    others = set()
    for name, at in own.items():
        with connect(opposite(at)) as connection:
            expect(connection.getsockname()[0] == str(at.ip), f"traffic to {opposite(at)} does not leave by {name}")
            others.update(json.loads(received(connection)))
    for rank in range(RANKS if management else 0):
        if rank != RANK:
            with connect(str(management.network.network_address + 2 + rank)) as connection:
                others.update(json.loads(received(connection)))
    for address in others:  # of the neighbours and, with a management network, of all nodes
        if not any(ipaddress.ip_address(address) in at.network for at in own.values()):
            start = time.monotonic()
            try:
                socket.create_connection((address, PORT), timeout=20).close()
                expect(False, f"{address} can be reached, which is not at a cable of this node")
            except OSError as error:
                expect(error.errno == errno.ENETUNREACH, f"{address}: {error}")
            expect(time.monotonic() - start < 5, f"{address}: the error was late")
    server.join(60)
    expect(not server.is_alive(), "a node did not connect")
    report(f"{' '.join(sorted(own))}{' mgmt0' if management else ''}")


def stream(seconds):
    own = interfaces()
    listening = socket.create_server((str(own["down0"].ip), PORT))
    sender = connect(opposite(own["up0"]))
    receiver, _ = listening.accept()
    got = []
    reader = threading.Thread(target=lambda: got.append(received(receiver)), daemon=True)
    reader.start()
    print("begun", flush=True)
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        sender.sendall(count.to_bytes(4, "big"))
        count += 1
        time.sleep(0.01)
    sender.shutdown(socket.SHUT_WR)
    reader.join(60)
    expect(got, "the stream does not end")
    numbers = [int.from_bytes(got[0][i:i + 4], "big") for i in range(0, len(got[0]), 4)]
    expect(numbers and numbers == list(range(len(numbers))), "numbers are missing")
    report("complete")


if sys.argv[1] == "reach":
    reach()
else:
    stream(float(sys.argv[2]))
