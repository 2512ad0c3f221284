#!/usr/bin/env python3
"""Compares the list of guarantees (list.txt) with the documents and with CTest.

Usage: check.py SOURCES BUILD [LISTED…]. Every guarantee of the list is a sentence of its document before a mark
<!-- guarantee -->, and every mark follows such a sentence; the tests that prove a guarantee exist, with the argument
that selects the scenario. Tests of MPI libraries other than those LISTED, and of libtrivance_net unless "net" is
listed, may be missing, because they are not built.
"""
import pathlib
import re
import sys

MARK = "<!-- guarantee -->"
DOCUMENTS = ("drop-in.md", "connections.md")


def read_list(path):
    """Yields (document, sentence, {"mpi": words, "net": words})."""
    text = "\n".join(line for line in path.read_text().splitlines() if not line.startswith("#"))
    for paragraph in re.split(r"\n\n+", text.strip()):
        sentence, *proofs = paragraph.split("\n")
        document, sentence = sentence.split(": ", 1)
        yield document, sentence, dict(proof.split(": ", 1) for proof in proofs)


def sentences_differ(docs, guarantees):
    """Compares the marked sentences of the documents with those of the list."""
    for name, sentence, _ in guarantees:
        if name not in DOCUMENTS:
            yield f"{name}: expected one of {', '.join(DOCUMENTS)}: {sentence}"
    for document in DOCUMENTS:
        listed = [sentence for name, sentence, _ in guarantees if name == document]
        *marked, _ = " ".join((docs / document).read_text().split()).split(f" {MARK}")
        for text in marked:
            found = [sentence for sentence in listed if text.endswith(sentence)]
            if not found:
                yield f"{document}: a marked sentence is not in the list: …{text[-200:]}"
            listed = [sentence for sentence in listed if sentence not in found]
        yield from (f"{document}: no marked sentence: {sentence}" for sentence in listed)


def tests_differ(build, guarantees, built):
    """Looks up the tests of the list among those of CTest, which CMake writes into a file per folder."""
    commands = {}
    for path in pathlib.Path(build).rglob("CTestTestfile.cmake"):
        for name, words in re.findall(r"^add_test\((?:\[=*\[)?([^] ]+)(?:\]=*\])? (.*)\)$", path.read_text(), re.M):
            commands[name] = re.findall(r'"([^"]*)"', words)
    for document, sentence, proofs in guarantees:
        if set(proofs) != {"mpi", "net"}:
            yield f"{sentence}: expected a line for mpi and one for net"
        for front, proof in proofs.items():
            if proof.startswith("- "):
                continue
            for word in proof.split():
                name, _, scenario = word.partition(":")
                needs = {mpi for mpi in ("openmpi", "mpich") if mpi in name} or ({"net"} if front == "net" else set())
                if needs - built:
                    continue
                if name not in commands or (scenario and scenario not in commands[name]):
                    yield f"{document}: {sentence}: there is no test {word}"


def main():
    sources, build, *built = sys.argv[1:]
    guarantees = list(read_list(pathlib.Path(__file__).with_name("list.txt")))
    wrong = list(sentences_differ(pathlib.Path(sources) / "docs", guarantees))
    wrong += tests_differ(build, guarantees, set(built))
    print("\n".join(wrong) or f"{len(guarantees)} guarantees, each with its sentence and its tests")
    return bool(wrong)


sys.exit(main())
