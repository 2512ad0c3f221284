#!/usr/bin/env python3
"""Draws the modules and the includes allowed between them (docs/modules.svg), from the declarations in CMakeLists.txt,
which tests/modules.py reads.

A module is drawn above all modules that it may include. An arrow that follows from others is left out: a module may
also include what the modules that it depends on may include. An arrow over several layers has a place in each
of them; places are ordered so that few arrows cross, and moved towards their neighbours.

Usage: modules_picture.py SOURCES > docs/modules.svg
       modules_picture.py SOURCES --compare docs/modules.svg      exit status 1 if the file differs
"""
import os
import re
import sys
from math import fsum  # exact everywhere; the result of sum() for fractions depends on Python's version

sys.dont_write_bytecode = True  # writes nothing into the source folder
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests"))
from modules import declared  # noqa: E402

MODULE_WIDTH, MODULE_HEIGHT, LAYER_HEIGHT, GAP, LANE, MARGIN, HEAD = 124, 30, 84, 18, 12, 24, 84
COLOURS = {"the core: libtrivance": ("#d7efe3", "#12855a"), "files and the tool": ("#dfe8f5", "#3a5bb8"),
           "MPI": ("#fbe9cf", "#b8730d")}


# ---- The graph -------------------------------------------------------------------------------------------------------

def reach(modules, module):
    return set(modules[module]).union(*(reach(modules, other) for other in modules[module]))


def reduce(modules):
    """Each module with the modules that it includes directly and cannot reach through others."""
    below = {module: reach(modules, module) for module in modules}
    return {module: sorted(other for other in includes if not any(other in below[third] for third in includes))
            for module, includes in modules.items()}


def layers_of(includes):
    """The layer of each module: the lowest possible, then nearer to its users where that makes arrows shorter."""
    users = {module: [user for user in includes if module in includes[user]] for module in includes}
    layer = {}

    def lowest(module):
        if module not in layer:
            layer[module] = 1 + max((lowest(other) for other in includes[module]), default=-1)
        return layer[module]

    for module in sorted(includes):
        lowest(module)
    for module in sorted(includes, key=lambda module: (-layer[module], module)):
        if users[module] and len(users[module]) > len(includes[module]):
            layer[module] = min(layer[user] for user in users[module]) - 1
    return layer


def place(includes, layer):
    """Layers of places; links of places. A place is a module's name, or (module, other, layer) of an arrow."""
    rows = [sorted(module for module in includes if layer[module] == k) for k in range(max(layer.values()) + 1)]
    links = []  # (upper place, lower place)
    for module in sorted(includes):
        for other in includes[module]:
            above = module
            for k in range(layer[module] - 1, layer[other], -1):
                rows[k].append((module, other, k))
                links.append((above, (module, other, k)))
                above = (module, other, k)
            links.append((above, other))
    return rows, links


# ---- The layout ------------------------------------------------------------------------------------------------------

def crossings(rows, links):
    at = {spot: i for row in rows for i, spot in enumerate(row)}
    level = {spot: k for k, row in enumerate(rows) for spot in row}
    count = 0
    for k in range(1, len(rows)):
        here = [(at[upper], at[lower]) for upper, lower in links if level[upper] == k]
        count += sum((a - c) * (b - d) < 0 for i, (a, b) in enumerate(here) for c, d in here[:i])
    return count


def order(rows, links):
    """Sweeps up and down: each place moves to the mean of its neighbours in the layer before; the best is kept."""
    neighbours = {spot: ([], []) for row in rows for spot in row}
    for upper, lower in links:
        neighbours[upper][0].append(lower)
        neighbours[lower][1].append(upper)
    best, fewest = [list(row) for row in rows], crossings(rows, links)
    for sweep in range(60):
        down = sweep % 2
        for row in rows[::-1] if down else rows:
            at = {spot: (i + 0.5) / len(other) for other in rows for i, spot in enumerate(other)}
            mean = {spot: fsum(at[n] for n in neighbours[spot][down]) / len(neighbours[spot][down])
                    if neighbours[spot][down] else at[spot] for spot in row}
            row.sort(key=lambda spot: mean[spot])
        if crossings(rows, links) < fewest:
            best, fewest = [list(row) for row in rows], crossings(rows, links)
    return best, neighbours


def spread(wanted, widths):
    """The positions nearest to the wanted ones (least squares) that keep the order and do not overlap."""
    offsets, total = [], 0
    for i, width in enumerate(widths):
        total += (width + widths[i - 1]) / 2 if i else 0
        offsets.append(total)
    blocks = []  # [sum, count] of positions that move together
    for want, offset in zip(wanted, offsets):
        blocks.append([want - offset, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            last = blocks.pop()
            blocks[-1] = [blocks[-1][0] + last[0], blocks[-1][1] + last[1]]
    starts = [total / count for total, count in blocks for _ in range(count)]
    return [start + offset for start, offset in zip(starts, offsets)]


def positions(rows, neighbours):
    """The x coordinates of the places, repeatedly moved towards their neighbours in both layers."""
    width = {spot: MODULE_WIDTH + GAP if isinstance(spot, str) else LANE for row in rows for spot in row}
    x = {spot: at for row in rows for spot, at in zip(row, spread([0] * len(row), [width[spot] for spot in row]))}
    for sweep in range(400):
        for row in rows[::-1] if sweep % 2 else rows:
            wanted = []
            for spot in row:
                around = neighbours[spot][0] + neighbours[spot][1]
                wanted.append(fsum(x[n] for n in around) / len(around) if around else x[spot])
            for spot, at in zip(row, spread(wanted, [width[spot] for spot in row])):
                x[spot] = at
    left = min(x[spot] - width[spot] / 2 for row in rows for spot in row)
    return {spot: round(at - left) + MARGIN for spot, at in x.items()}


# ---- The picture -----------------------------------------------------------------------------------------------------

def groups(root, modules):
    """The group of each module: those of libtrivance, those that depend on MPI's transport, and the others."""
    with open(os.path.join(root, "src", "CMakeLists.txt"), encoding="utf-8") as text:
        core = re.search(r"^set\(core ([^)]*)\)", text.read(), re.M).group(1).split()
    names = list(COLOURS)
    return {module: names[0 if module in core else 2 if "transport/mpi" in reach(modules, module) | {module} else 1]
            for module in modules}


def arrow(spots, x, top):
    """From a module's lower edge through its places to the upper edge of another, as an SVG path."""
    at = top(spots[0]) + MODULE_HEIGHT
    path = f"M{x[spots[0]]} {at}"
    for before, spot in zip(spots, spots[1:]):
        end = top(spot) - (5 if isinstance(spot, str) else 0)
        middle = (at + end) // 2
        path += f"C{x[before]} {middle} {x[spot]} {middle} {x[spot]} {end}"
        at = top(spot) + MODULE_HEIGHT
        if not isinstance(spot, str):
            path += f"V{at}"
    return path


def draw(source):
    root = source
    modules = declared(root)
    includes = reduce(modules)
    layer = layers_of(includes)
    rows, links = place(includes, layer)
    rows, neighbours = order(rows, links)
    x = positions(rows, neighbours)
    level = {spot: k for k, row in enumerate(rows) for spot in row}
    width = max(x[spot] for row in rows for spot in row if isinstance(spot, str)) + MODULE_WIDTH // 2 + MARGIN
    height = HEAD + len(rows) * LAYER_HEIGHT - (LAYER_HEIGHT - MODULE_HEIGHT) + MARGIN

    def top(spot):
        return HEAD + (len(rows) - 1 - level[spot]) * LAYER_HEIGHT

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
             f'height="{height}" fill="none" font-family="DejaVu Sans, Verdana, Arial, sans-serif">',
             "<title>The modules of Trivance, and which may include which</title>",
             f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
             '<marker id="head" viewBox="0 0 8 8" refX="3" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
             '<path d="M0 0L8 4L0 8Z" fill="#6b7785"/></marker>',
             f'<text x="{MARGIN}" y="32" font-size="17" font-weight="600" fill="#1f2933">The modules</text>']
    at = MARGIN
    for name, (fill, line) in COLOURS.items():
        lines.append(f'<rect x="{at}" y="48" width="11" height="11" rx="2" fill="{fill}" stroke="{line}"/>'
                     f'<text x="{at + 17}" y="57" font-size="11" fill="#1f2933">{name}</text>')
        at += 40 + 7 * len(name)
    for module in sorted(includes):
        for other in includes[module]:
            spots = [module] + [(module, other, k) for k in range(layer[module] - 1, layer[other], -1)] + [other]
            lines.append(f'<path d="{arrow(spots, x, top)}" stroke="#6b7785" marker-end="url(#head)"/>')
    for module, name in sorted(groups(root, modules).items()):
        fill, line = COLOURS[name]
        lines.append(f'<rect x="{x[module] - MODULE_WIDTH // 2}" y="{top(module)}" width="{MODULE_WIDTH}" '
                     f'height="{MODULE_HEIGHT}" rx="5" fill="{fill}" stroke="{line}"/>'
                     f'<text x="{x[module]}" y="{top(module) + 19}" font-size="12" text-anchor="middle" '
                     f'fill="#1f2933">{module}</text>')
    return "\n".join(lines + ["</svg>", ""])


def main():
    picture = draw(sys.argv[1])
    if sys.argv[2:3] != ["--compare"]:
        sys.stdout.write(picture)
        return 0
    with open(sys.argv[3], encoding="utf-8") as text:
        if text.read() == picture:
            return 0
    print(f"{sys.argv[3]} is out of date; update it: "
          "scripts/modules_picture.py . > docs/modules.svg")
    return 1


if __name__ == "__main__":
    sys.exit(main())
