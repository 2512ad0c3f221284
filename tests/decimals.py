#!/usr/bin/env python3
"""Checks that the product, vendored files excepted, formats and reads numbers independently of the locale, by the
functions of base/number.h.

Usage: decimals.py SOURCES              exit status 1, with a line for each error
"""
import os
import re
import sys

FOLDERS = ("src", "testbed", "explorer", "python/extension")
HOME = "src/base/number.c"
# A conversion that writes or reads a decimal point; "%.0f" writes none.
POINT = r"%[-+ #0*]*\d*(?:\.(?:\*|[1-9]\d*))?[lL]?[aAeEfFgG]"
TOKEN = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|\w+|\S""", re.S)
PRINT_OR_SCAN = r"(?:v?(?:f|d|s|sn|as)?printf|v?[fs]?scanf)"
ALWAYS = (r"\b(v\w*printf|strto(?:d|f|ld)|atof|wcsto\w+|(?:str(?:n?)casecmp|to(?:lower|upper)|localeconv)"
          r"|c10::str|std::sto(?:d|f|ld))\(|\bsetlocale\((?!LC_CTYPE,)")


def faults(text):
    """The line and the name of each function that depends on the locale."""
    code = TOKEN.sub(lambda token: re.sub(r"[^\n]", " ", token[0]) if token[0][:2] in ("/*", "//") else token[0], text)
    for match in re.finditer(ALWAYS, code):
        yield code.count("\n", 0, match.start()) + 1, match[0] + ")"
    names, before = [], ""  # of the open parentheses
    for token in TOKEN.finditer(code):
        if token[0] == "(":
            names.append(before)
        elif token[0] == ")" and names:
            names.pop()
        elif token[0][0] == '"' and re.search(POINT, token[0].replace("%%", "")):
            calls = [name for name in names if re.fullmatch(r"\w+", name)]
            if not calls or re.fullmatch(PRINT_OR_SCAN, calls[-1]):
                yield code.count("\n", 0,
                                 token.start()) + 1, f"{calls[-1] if calls else 'a format outside a call'}: {token[0]}"
        before = token[0]


def main():
    wrong, files = [], 0
    for top in FOLDERS:
        for folder, _, names in os.walk(os.path.join(sys.argv[1], top)):
            for file in (os.path.relpath(os.path.join(folder, name), sys.argv[1]) for name in names):
                if file.endswith((".c", ".h", ".cpp", ".hpp")) and file != HOME and "/vendor/" not in file:
                    files += 1
                    with open(os.path.join(sys.argv[1], file), encoding="utf-8") as text:
                        wrong += [f"{file}:{line}: depends on the locale, unlike the functions of base/number.h: {what}"
                                  for line, what in faults(text.read())]
    print("\n".join(wrong) if wrong else f"{files} files: numbers do not depend on the locale")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
