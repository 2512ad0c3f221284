#!/usr/bin/env python3
"""Writes the pages of the documentation site: pages.py SOURCE FOLDER

Copies docs/, research/docs/ and the documents of the root folder to FOLDER/pages, and mkdocs.yml to FOLDER. Each public
header, in FOLDER/headers/trivance, becomes a page of its comments and declarations. Links to other files of the project
lead to copies of them, so that the site is complete without the repository. Where the folder research is missing, as in
the archive of `make dist`, the site has neither its pages nor links to them.
"""
import html
import os
import posixpath
import re
import shutil
import sys

# Pages whose names differ from those of their documents.
PAGES = {
    "README.md": "index.md",
    "docs/README.md": "documents.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "research/README.md": "research.md",
}
FOLDERS = ("docs", "research/docs")  # of documents, whose pages are in one folder
NAME = re.compile(r"\b(trv|TRV|MPI|mpi|trivance|libtrivance)_\w+(\(\))?|\btrivance/\w+\.h\b|"
                  r"\b(research/)?docs/[\w-]+\.md\b")
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s]+)(\))")


class Site:
    def __init__(self, source, folder):
        self.source, self.pages = source, os.path.join(folder, "pages")
        shutil.rmtree(self.pages, ignore_errors=True)
        self.copied = set()
        self.research = os.path.isdir(os.path.join(source, "research"))

    def read(self, path):
        with open(os.path.join(self.source, path), encoding="utf-8") as file:
            return file.read()

    def write(self, page, text):
        target = os.path.join(self.pages, page)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)

    def page_of(self, path):
        """The page, or the copy, to which a link to this file of the project leads."""
        if path in PAGES:
            return PAGES[path]
        for folder in FOLDERS:
            if path.startswith(folder + "/"):
                return path[len(folder) + 1:]
        if path == "include/trivance":
            return "api/index.md"
        if path.startswith("include/trivance/"):
            return f"api/{posixpath.basename(path)[:-2]}.md"
        return self.copy(path)

    def copy(self, path):
        """Copies a file as text, or a list of a folder's files, to the folder `source`."""
        folder = os.path.isdir(os.path.join(self.source, path))
        page = f"source/{path}/index.md" if folder else f"source/{path}.txt"
        if page in self.copied:
            return page
        self.copied.add(page)
        if folder:
            names = sorted(os.listdir(os.path.join(self.source, path)))
            links = [f"- [{name}]({name})" for name in names if not name.startswith((".", "__"))]
            self.write(page, self.rewrite(f"# {path}\n\n" + "\n".join(links) + "\n", path, page))
        else:
            self.write(page, self.read(path))
        return page

    def rewrite(self, text, folder, page):
        """Directs the links of a document in `folder` to the pages of the site."""
        def target(match):
            before, link, after = match.groups()
            address, hash_, anchor = link.partition("#")
            if not address or re.match(r"[a-z]+:", address):
                return match.group()
            path = posixpath.normpath(posixpath.join(folder, address))
            if not self.research and path.startswith("research/"):
                return before[1:-2]
            if not os.path.exists(os.path.join(self.source, path)):
                raise SystemExit(f"pages.py: {page} links to {link}, but there is no {path}")
            return before + posixpath.relpath(self.page_of(path),
                                              posixpath.dirname(page) or ".") + hash_ + anchor + after

        parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)  # blocks of code have no links
        return "".join(part if i % 2 else LINK.sub(target, part) for i, part in enumerate(parts))

    def add_documents(self):
        documents = {path for path in PAGES if self.research or not path.startswith("research/")}
        for top in FOLDERS if self.research else FOLDERS[:1]:
            for root, folders, names in os.walk(os.path.join(self.source, top)):
                path = os.path.relpath(root, self.source)
                if path == "docs":
                    folders[:] = [name for name in folders if name not in ("man", "site")]
                for name in names:
                    if name.endswith(".md"):
                        documents.add(f"{path}/{name}")
                    else:
                        os.makedirs(os.path.join(self.pages, self.page_of(path + "/x")[:-1]), exist_ok=True)
                        shutil.copy(os.path.join(root, name), os.path.join(self.pages, self.page_of(f"{path}/{name}")))
        for path in sorted(documents):
            page = self.page_of(path)
            self.write(page, self.rewrite(self.read(path), posixpath.dirname(path), page))

    def add_headers(self, headers):
        """Returns the entries of the pages for the navigation."""
        rows, entries = [], ["api/index.md"]
        for name in sorted(os.listdir(headers)):
            page = f"api/{name[:-2]}.md"
            text, purpose = header_page(name, self.read(os.path.join(headers, name)))
            self.write(page, text)
            entries.append(f"trivance/{name}: {page}")
            rows.append(f"| [trivance/{name}]({name[:-2]}.md) | {purpose} |")
        self.write("api/index.md",
                   "# C interface\n\nEach header begins with its purpose. With `make docs` there are also "
                   "man pages in man3, in which functions are found by name.\n\n| header | purpose |\n|---|---|\n" +
                   "\n".join(rows) + "\n")
        return entries


def prose(comment):
    """The text of a comment; lines that are indented further than others are tables or formulas."""
    lines = [re.sub(r"^\s*(/\*+|\*(?!/))? ?", "", re.sub(r"\s*\*/\s*$", "", line)) for line in comment.splitlines()]
    text, code = [], False
    for line in lines:
        after_gap = not text or not text[-1]
        indented = (code and not line) or (line.startswith("  ") and (code or after_gap))
        if indented != code:
            text.append("```text" if indented else "```")
        code = indented
        text.append(line if code else escape(line))
    return "\n".join(text + (["```"] if code else []))


def escape(line):
    """Protects what Markdown would read as formatting, except `code` and *emphasis*, and sets names as code."""
    parts = re.split(r"(`[^`]*`|(?<!\w)\*\w[\w ]*\*(?!\w))", line)
    for i in range(0, len(parts), 2):
        parts[i] = NAME.sub(r"`\g<0>`", re.sub(r"[*\[\]|]", r"\\\g<0>", html.escape(parts[i], quote=False)))
    return "".join(parts)


def header_page(name, text):
    """A header as a page: comments as text, followed by the declarations that they describe as code."""
    first = re.match(r"/\*.*?\*/", text, re.S).group()
    about = prose(first).strip()
    purpose = re.split(r"(?<=[.:])\s", about.replace("\n", " "))
    page = [f"# trivance/{name}", about, f"```c\n#include <trivance/{name}>\n```"]
    rest = text[len(first):]
    for block in re.split(r"\n\s*\n(?! )", rest.strip()):
        block = block.strip("\n")
        if not block or re.fullmatch(r"(#(ifndef|define|include|if|ifdef|endif|else)\b[^\n]*(\n|$)|"
                                     r"extern \"C\" \{\n?|\}\n?)+", block):
            continue
        section = re.match(r"/\* -+ (.*?) -+ \*/$", block)
        if section:
            page.append(f"## {section.group(1)}")
            continue
        comment = re.match(r"/\*.*?\*/(?=\n|$)", block, re.S)
        if comment:
            page.append(prose(comment.group()).strip())
            block = block[comment.end():].strip("\n")
        block = re.sub(r"^TRV_API ", "", re.sub(r"\n#endif$|^#ifdef __cplusplus\n\}\n#endif\n?", "", block), flags=re.M)
        if block:
            page.append(f"```c\n{block}\n```")
    return "\n\n".join(page) + "\n", " ".join(purpose[:2]) if purpose[0].endswith(":") else purpose[0]


def main():
    source, folder = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    site = Site(source, folder)
    entries = site.add_headers(os.path.join(folder, "headers/trivance"))
    site.add_documents()
    settings = site.read("docs/site/mkdocs.yml")
    if not site.research:
        settings = re.sub(r"^  - Research:\n(      .*\n)+", "", settings, flags=re.M)
    for page in sorted(os.listdir(site.pages)):
        if page.endswith(".md") and not re.search(rf": {re.escape(page)}$", settings, re.M):
            raise SystemExit(f"pages.py: docs/site/mkdocs.yml has no entry for {page}")
    navigation = "C interface:" + "".join(f"\n      - {entry}" for entry in entries)
    settings, places = re.subn(r"C interface: \[\].*", navigation, settings)
    if places != 1:
        raise SystemExit("pages.py: docs/site/mkdocs.yml has no place for the pages of the headers")
    with open(os.path.join(folder, "mkdocs.yml"), "w", encoding="utf-8") as file:
        file.write(settings)


if __name__ == "__main__":
    main()
