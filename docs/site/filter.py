#!/usr/bin/env python3
"""Marks the comments of a public header for Doxygen, which prints the result: filter.py HEADER

In these headers a comment before several declarations describes them all, for which Doxygen requires a group.
"""
import re
import sys

DECLARATIONS = re.compile(r"^(/\*(?! -)(?:(?!\*/).)*\*/)\n((?:TRV_API [^;{]*;[^\n]*\n){2,})", re.M | re.S)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read().replace("@", "\\@")
    first = text.index("*/") + 2
    about, text = "/** @file" + text[2:first], text[first:]
    text = DECLARATIONS.sub(r"/*@{*/\n\1\n\2/*@}*/\n", text)
    text = re.sub(r"^/\*(?= |@)(?! -)", "/**", text, flags=re.M)         # before a declaration
    text = re.sub(r"^( +)/\* ", r"\1/** ", text, flags=re.M)              # before a member
    text = re.sub(r"(?<=[;,(\w\")]) +/\* ", " /**< ", text)               # after a member
    sys.stdout.write(about + text)


if __name__ == "__main__":
    main()
