#!/usr/bin/env python3
"""The reference in docs/python.md is that of the docstrings: every public name with its signature and first sentence.

Usage: reference.py DOCUMENT [--fix]      exit status 1 if the document differs; --fix writes the list into it
"""
import inspect
import re
import sys

sys.dont_write_bytecode = True
import trivance as tv  # noqa: E402

MARK = "<!-- reference -->\n"
RETURNED = ("Choice", "Comparison")  # classes that users do not make themselves


def sentence(one):
    return " ".join(inspect.getdoc(one).split("\n\n")[0].split())


def signature(one):
    try:
        parameters = inspect.signature(one).parameters.values()
    except (TypeError, ValueError):
        return ""
    words, starred = [], False
    for p in parameters:
        if p.name in ("self", "cls"):
            continue
        if p.kind == p.KEYWORD_ONLY and not starred:
            words.append("*")
            starred = True
        name = {p.VAR_KEYWORD: "**", p.VAR_POSITIONAL: "*"}.get(p.kind, "") + p.name
        starred = starred or p.kind == p.VAR_POSITIONAL
        words.append(name if p.default is p.empty else f"{name}={p.default!r}")
    return f"({', '.join(words)})"


def attributes(kind):
    """The fields of a tuple, or the names in the docstring's list of attributes."""
    listed = re.search(r"\nAttributes\n-+\n(.*?)(?=\n\n|$)", inspect.getdoc(kind), re.S)
    names = re.findall(r"^([a-z_]\w*(?:, \w+)*)(?: :|$)", listed.group(1), re.M) if listed else []
    return getattr(kind, "_fields", [name for line in names for name in line.split(", ")])


def members(kind):
    """Attributes, methods and properties of the class itself."""
    if attributes(kind):
        yield "*" + ", ".join(f"`{name}`" for name in attributes(kind)) + "*"
    for name, one in vars(kind).items():
        if name.startswith("_") or not inspect.getdoc(one) or name in attributes(kind):
            continue
        if isinstance(one, property):
            yield f"`.{name}`: {sentence(one)}"
        elif callable(one) or isinstance(one, (classmethod, staticmethod)):
            if name not in ("count", "index"):
                yield f"`.{name}{signature(getattr(kind, name))}`: {sentence(one)}"


def reference():
    lines = []
    for name in tv.__all__:
        one = getattr(tv, name)
        if name.startswith("__") or not callable(one):
            continue
        returned = isinstance(one, type) and (issubclass(one, (Exception, tuple)) or name in RETURNED)
        shown = "" if returned else signature(one)
        lines.append(f"- `{name}{shown}`: {sentence(one)}")
        if isinstance(one, type) and not issubclass(one, Exception):
            lines += [f"  - {member}" for member in members(one)]
    return "\n".join(lines) + "\n"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    head = text[:text.index(MARK) + len(MARK)]
    made = head + "\n" + reference()
    if sys.argv[2:] == ["--fix"]:
        with open(sys.argv[1], "w", encoding="utf-8") as file:
            file.write(made)
    elif made != text:
        print(f"{sys.argv[1]}: its reference is not that of the docstrings; `tests/python/reference.py {sys.argv[1]} "
              "--fix` makes it anew")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
