#!/usr/bin/env python3
"""Checks that the paper has every section and appendix referred to, and that its subject is mentioned nearby.

Usage: paper_references.py SOURCE       exit status 1 with a line for every reference that is wrong

"section 4.1", "sections 4.1 and 4.4" and "appendix C" in the sources, tests and documents are references to the paper
(Juerss, Addanki, Schmid: Trivance), unless the words before them name another work (OTHERS). Within CONTEXT characters
there must be one of the heading's words. Numbers with three parts or above 9 belong to other works and are not checked.
The report names sections in a column of its table, beside the text of the claim.
"""
import os
import re
import sys

# The paper's headings, and words of which at least one must occur in a text about the section.
HEADINGS = {
    "1": "introduction",
    "2": "model|preliminaries",
    "2.1": "hockney|congestion|cost",
    "2.2": "allreduce",
    "2.3": "bound|optimal",
    "2.4": "ring|bucket|recursive doubling|swing|bruck",
    "3": "motivation",
    "3.1": "problems",
    "3.2": "design space",
    "4": "joint reduction|distances|windows|latency-optimal|bandwidth-optimal",
    "4.1": "bandwidth-optimal|reduce-scatter|allgather|distances",
    "4.2": "latency-optimal|windows",
    "4.3": "closed form|algorithm 1|figure 3",
    "4.4": r"any\b|arbitrary|sizes|distances|windows",
    "5": "torus|tori|dimension",
    "6": "figures|simulator|rings|tori|swing|bandwidth",
    "6.1": "ring",
    "6.2": "32x32|8x64|27x27|bandwidths|power of three|powers of three",
    "6.3": "16x16x16|4-d",
    "6.4": "trivance|all others|mirrored|bruck|change to their b|large vectors",
    "7": "reduction volume|reductions|stars|collectives|2d \\+ 1",
    "8": "related work",
    "9": "conclusion",
    "A": "proof",
    "B": "sums|closed form|theta|worked out",
    "C": "bruck",
    "D": "pipelining|readiness|connection|path",
    "E": "network|parameters|simulator|buffers",
    "F": "break-even|sensitivity|alpha|latency|packet",
    "G": "figures|plots",
}
OTHERS = ("FIPS 180-2, ",)
CONTEXT = 200
NUMBER = r"(?:[1-9](?:\.[0-9])?|[A-G])\b(?!\.[0-9])"
REFERENCE = re.compile(rf"\b(?:[Ss]ection|[Aa]ppendi)(?:s|x|ces)?\s+({NUMBER}(?:(?:,| and|, and)\s+{NUMBER})*)")
FOLDERS = ("src", "testbed", "explorer", "include", "tests", "docs", "examples", "bench", "python", "research",
           "scripts", "README.md", "CONTRIBUTING.md", "CHANGELOG.md")
ENDINGS = (".c", ".h", ".md", ".sh", ".py", ".pml", ".mjs", ".js", ".html", ".F90", ".1", ".3", ".7")


def files(source):
    for folder in FOLDERS:
        path = os.path.join(source, folder)
        if os.path.isfile(path):
            yield path
        for root, _, names in os.walk(path):
            yield from (os.path.join(root, name) for name in sorted(names) if name.endswith(ENDINGS))


def one_line(text):
    """Joins comments and strings that continue in the next line."""
    text = re.sub(r'"\n\s*"', "", text)
    return re.sub(r"\s*\n\s*(?:\*|//|#)?\s*", " ", text)


def fault(number, words):
    if number not in HEADINGS:
        return "the paper has no such section"
    if not re.search(rf"\b(?:{HEADINGS[number]})", words.lower()):
        return f"which is about {HEADINGS[number]}, none of which is mentioned"
    return None


def check_text(text):
    text = one_line(text)
    for match in REFERENCE.finditer(text):
        if text[:match.start()].endswith(OTHERS):
            continue
        words = text[max(0, match.start() - CONTEXT):match.start()] + text[match.end():match.end() + CONTEXT]
        for number in re.findall(NUMBER, match[1]):
            wrong = fault(number, words)
            if wrong:
                yield f"'{match[0]}': {number}: {wrong}"


def check_report(text):
    """Checks rows '| 6.1 | Ring of 8: … |' of the report's tables of claims."""
    table = text[text.index("## Claim by claim"):text.index("### Claims that do not")]
    for number, claim in re.findall(rf"^\| ({NUMBER}) \| ([^|]*) \|", table, re.M):
        wrong = fault(number, claim)
        if wrong:
            yield f"'{claim}': {number}: {wrong}"


def main():
    source = sys.argv[1]
    faults = references = 0
    for path in files(source):
        if os.path.samefile(path, __file__):
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        references += len(REFERENCE.findall(text))
        found = list(check_text(text))
        if path.endswith("docs/evaluation.md"):
            found += check_report(text)
        for wrong in found:
            print(f"{os.path.relpath(path, source)}: {wrong}")
        faults += len(found)
    if references < 20:
        sys.exit(f"paper_references: only {references} references were found")
    sys.exit(1 if faults else 0)


main()
