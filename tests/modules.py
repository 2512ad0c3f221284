#!/usr/bin/env python3
"""Checks the modules of src/ and the dependencies between them:

- What the code includes, what the build declares (trivance_module and trivance_programs in CMakeLists.txt) and what the
  table in CONTRIBUTING.md says are the same.
- Neither modules nor files include each other in a cycle (a file and its own header count as one).
- No file has the name of a file in a module that its own may include, except inside.h, which each module may have.
- Each function that a header declares is defined, and not in a file that has another header of its own.

Usage: modules.py SOURCES             exit status 1, with a line for each error
       modules.py SOURCES --table     prints the table for CONTRIBUTING.md
"""
import os
import re
import sys

# The module that each public header belongs to.
PUBLIC = {"algorithms": "algorithms", "common": "base", "compare": "compare", "cost": "cost", "execute": "execute/run",
          "formats": "formats", "net": "net", "parameters": "parameters", "planner": "planner", "reduce": "execute/run",
          "schedule": "schedule", "simulate": "simulate", "torus": "torus",
          "trivance_mpi": "mpi/front", "verify": "verify"}


# Folders with modules beside src/.
OUTSIDE = ("testbed", "explorer")


def walk(root):
    """os.walk over the folders of all modules, those of src/ and those beside it, without vendored files."""
    for top in [os.path.join(root, "src")] + [os.path.join(root, name) for name in OUTSIDE]:
        yield from (entry for entry in os.walk(top) if "/vendor/" not in entry[0] + "/")


def path_of(root, file):
    return os.path.join(root, file if file.split("/")[0] in OUTSIDE else os.path.join("src", file))


def sources(root):
    for folder, _, names in walk(root):
        for name in names:
            if name.endswith((".c", ".h")):
                file = os.path.relpath(os.path.join(folder, name), root)
                yield file[4:] if file.startswith("src/") else file


def included(root, file):
    """The files of modules, and the modules of public headers, that a file includes."""
    with open(path_of(root, file), encoding="utf-8") as text:
        for line in text:
            own = re.match(r'\s*#\s*include "([^"]+)"', line)
            public = re.match(r"\s*#\s*include <trivance/(\w+)\.h>", line)
            if own and os.path.exists(path_of(root, own.group(1))):
                yield own.group(1), os.path.dirname(own.group(1))
            elif public and public.group(1) in PUBLIC:
                yield None, PUBLIC[public.group(1)]


def declared(root):
    """The modules that each module may include, as its CMakeLists.txt declares."""
    modules = {}
    for folder, _, names in walk(root):
        if "CMakeLists.txt" not in names:
            continue
        with open(os.path.join(folder, "CMakeLists.txt"), encoding="utf-8") as text:
            for call in re.findall(r"^\s*trivance_(?:module|programs)\(([^)]*)\)", text.read(), re.M):
                words = call.split()
                at = words.index("DEPENDS") + 1 if "DEPENDS" in words else len(words)
                end = next((i for i in range(at, len(words)) if words[i] in ("LIBRARIES", "SOURCES", "MPI")),
                           len(words))
                modules[words[0]] = sorted(words[at:end])
    return modules


def table(text):
    """The rows `| module | contents | modules that it may include |` of CONTRIBUTING.md."""
    modules = {}
    for name, includes in re.findall(r"^\| `([\w/]+)` \|[^|]*\|([^|]*)\|$", text, re.M):
        modules[name] = sorted(re.findall(r"[\w/]+", includes))
    return modules


def cycles(graph):
    """The strongly connected components of more than one node (Tarjan)."""
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
            cycle = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(cycle) > 1:
                found.append(sorted(cycle))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


FUNCTION = r"^(?!static\b|typedef\b)[A-Za-z_][\w *]*?[ *](\w+)\((?:[^;{}()]|\([^()]*\))*\)"


def misplaced(root, files):
    """Errors for functions of headers that are defined nowhere, or in a file that has another header of its own."""
    declares, defines = [], {}
    for file in sorted(files):
        with open(path_of(root, file), encoding="utf-8") as text:
            code = re.sub(r"/\*.*?\*/", "", text.read(), flags=re.S)
        if file.endswith(".c"):
            for name in re.findall(FUNCTION + r"\s*\{", code, re.M):
                defines.setdefault(name, []).append(file)
        else:
            declares += [(name, file)
                         for name in re.findall(FUNCTION + r"(?:\s*__attribute__\(\(.*\)\))?;", code, re.M)]
    for name, header in declares:
        own = [file[:-1] + "h" for file in defines.get(name, []) if file[:-1] + "h" in files]
        if name not in defines:
            yield f"{header} declares {name}, which is not defined"
        elif header not in own and own and header[:-1] + "c" in files:
            yield f"{header} declares {name}, which belongs in {own[0]}"


def main():
    sys.setrecursionlimit(10000)
    root = sys.argv[1]
    includes, files = {}, {}
    for file in sources(root):
        module, stem = os.path.dirname(file), file[:-2]
        includes.setdefault(module, set())
        files.setdefault(stem, set())
        for other, other_module in included(root, file):
            if other_module != module:
                includes[module].add(other_module)
            if other and other[:-2] != stem:
                files[stem].add(other[:-2])
    modules = declared(root)
    includes = {module: other for module, other in includes.items()
                if module in modules or not module.startswith("mpi/component/openmpi")}
    with open(os.path.join(sys.argv[1], "CONTRIBUTING.md"), encoding="utf-8") as text:
        written = table(text.read())
    if sys.argv[2:] == ["--table"]:
        for module in modules:
            print(f"| `{module}` | | {', '.join(modules[module])} |")
        return 0
    wrong = []
    for module in sorted(set(includes) | set(modules) | set(written)):
        if module not in modules:
            wrong.append(f"{module}: no CMakeLists.txt declares it")
        elif module not in includes:
            wrong.append(f"{module}: it is declared but has no files")
        else:
            for other in sorted(includes[module] - set(modules[module])):
                wrong.append(f"{module} -> {other}: is included but not declared in CMakeLists.txt")
            for other in sorted(set(modules[module]) - includes[module]):
                wrong.append(f"{module} -> {other}: is declared, but nothing of it is included")
        if module in modules and written.get(module) != modules[module]:
            wrong.append(f"{module}: CONTRIBUTING.md has {written.get(module)}, CMakeLists.txt {modules[module]}")
    names = {}
    for file in sources(root):
        names.setdefault(os.path.dirname(file), set()).add(os.path.basename(file))
    wrong += [f"{module} -> {other}: both have a file {name}" for module in sorted(modules) for other in modules[module]
              for name in sorted(names.get(module, set()) & names.get(other, set()) - {"inside.h"})]
    wrong += misplaced(root, set(sources(root)))
    wrong += ["modules in a cycle: " + ", ".join(cycle) for cycle in cycles(includes)]
    wrong += ["files in a cycle: " + ", ".join(cycle) for cycle in cycles(files)]
    print("\n".join(wrong) if wrong else f"{len(modules)} modules, {len(files)} files: no cycles, all declared")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
