#!/usr/bin/env python3
"""The rooms of src/ and the arrows between them: what the code includes, what the build declares (trivance_room and
trivance_programs in CMakeLists.txt), and the table in CONTRIBUTING.md say the same; no rooms form a circle, nor do files
(a file and its own header are one); no file has the name of one in a room that its own may enter, except inside.h, which
each room has for itself. What headers declare is defined, and by no file that has a header of its own instead.

Usage: rooms.py SOURCES             exit status 1 with a line for everything that differs
       rooms.py SOURCES --table     the table as CONTRIBUTING.md has it
"""
import os
import re
import sys

# The rooms whose public headers these are.
PUBLIC = {"algorithms": "algorithms", "common": "common", "cost": "cost", "execute": "execute", "net": "net/front", "planner": "planner",
          "reduce": "execute", "schedule": "schedule", "simulate": "simulate", "torus": "torus",
          "trivance_mpi": "mpi/front", "verify": "verify"}


def sources(root):
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith((".c", ".h")):
                yield os.path.relpath(os.path.join(folder, name), root)


def included(root, file):
    """The files of src/, and the rooms of public headers, that a file includes."""
    with open(os.path.join(root, file), encoding="utf-8") as text:
        for line in text:
            own = re.match(r'\s*#\s*include "([^"]+)"', line)
            public = re.match(r"\s*#\s*include <trivance/(\w+)\.h>", line)
            if own and os.path.exists(os.path.join(root, own.group(1))):
                yield own.group(1), os.path.dirname(own.group(1))
            elif public and public.group(1) in PUBLIC:
                yield None, PUBLIC[public.group(1)]


def declared(root):
    """What each room may enter, as CMake is told."""
    rooms = {}
    for folder, _, names in os.walk(root):
        if "CMakeLists.txt" not in names:
            continue
        with open(os.path.join(folder, "CMakeLists.txt"), encoding="utf-8") as text:
            for call in re.findall(r"^\s*trivance_(?:room|programs)\(([^)]*)\)", text.read(), re.M):
                words = call.split()
                at = words.index("DEPENDS") + 1 if "DEPENDS" in words else len(words)
                end = next((i for i in range(at, len(words)) if words[i] in ("LIBRARIES", "SOURCES", "MPI")), len(words))
                rooms[words[0]] = sorted(words[at:end])
    return rooms


def table(text):
    """The rows `| room | what it is | rooms that it may enter |` of CONTRIBUTING.md."""
    rooms = {}
    for name, enters in re.findall(r"^\| `([\w/]+)` \|[^|]*\|([^|]*)\|$", text, re.M):
        rooms[name] = sorted(re.findall(r"[\w/]+", enters))
    return rooms


def circles(graph):
    """Lists of nodes that reach each other (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            circle = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(circle) > 1:
                found.append(sorted(circle))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


FUNCTION = r"^(?!static\b|typedef\b)[A-Za-z_][\w *]*?[ *](\w+)\((?:[^;{}()]|\([^()]*\))*\)"


def misplaced(root, files):
    """What a header declares that is defined nowhere, or in a file that has its own header, though this one is another's."""
    declares, defines = [], {}
    for file in sorted(files):
        with open(os.path.join(root, file), encoding="utf-8") as text:
            code = re.sub(r"/\*.*?\*/", "", text.read(), flags=re.S)
        if file.endswith(".c"):
            for name in re.findall(FUNCTION + r"\s*\{", code, re.M):
                defines.setdefault(name, []).append(file)
        else:
            declares += [(name, file) for name in re.findall(FUNCTION + r"(?:\s*__attribute__\(\(.*\)\))?;", code, re.M)]
    for name, header in declares:
        own = [file[:-1] + "h" for file in defines.get(name, []) if file[:-1] + "h" in files]
        if name not in defines:
            yield f"{header} declares {name}, which is defined nowhere"
        elif header not in own and own and header[:-1] + "c" in files:
            yield f"{header} declares {name}, which belongs in {own[0]}"


def main():
    sys.setrecursionlimit(10000)
    root = os.path.join(sys.argv[1], "src")
    enters, files = {}, {}
    for file in sources(root):
        room, stem = os.path.dirname(file), file[:-2]
        enters.setdefault(room, set())
        files.setdefault(stem, set())
        for other, other_room in included(root, file):
            if other_room != room:
                enters[room].add(other_room)
            if other and other[:-2] != stem:
                files[stem].add(other[:-2])
    rooms = declared(root)
    enters = {room: other for room, other in enters.items() if room in rooms or not room.startswith("coll/openmpi")}
    with open(os.path.join(sys.argv[1], "CONTRIBUTING.md"), encoding="utf-8") as text:
        written = table(text.read())
    if sys.argv[2:] == ["--table"]:
        for room in rooms:
            print(f"| `{room}` | | {', '.join(rooms[room])} |")
        return 0
    wrong = []
    for room in sorted(set(enters) | set(rooms) | set(written)):
        if room not in rooms:
            wrong.append(f"{room}: no CMakeLists.txt declares it")
        elif room not in enters:
            wrong.append(f"{room}: it is declared, and has no files")
        else:
            for other in sorted(enters[room] - set(rooms[room])):
                wrong.append(f"{room} -> {other}: is included, and not declared in CMakeLists.txt")
            for other in sorted(set(rooms[room]) - enters[room]):
                wrong.append(f"{room} -> {other}: is declared, and nothing there is included")
        if room in rooms and written.get(room) != rooms[room]:
            wrong.append(f"{room}: CONTRIBUTING.md has {written.get(room)}, CMakeLists.txt {rooms[room]}")
    names = {}
    for file in sources(root):
        names.setdefault(os.path.dirname(file), set()).add(os.path.basename(file))
    wrong += [f"{room} -> {other}: both have a file {name}" for room in sorted(rooms) for other in rooms[room]
              for name in sorted(names.get(room, set()) & names.get(other, set()) - {"inside.h"})]
    wrong += misplaced(root, set(sources(root)))
    wrong += ["rooms in a circle: " + ", ".join(circle) for circle in circles(enters)]
    wrong += ["files in a circle: " + ", ".join(circle) for circle in circles(files)]
    print("\n".join(wrong) if wrong else f"{len(rooms)} rooms, {len(files)} files: no circles, no other arrows")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
