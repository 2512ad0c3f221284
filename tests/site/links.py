#!/usr/bin/env python3
"""Checks a folder of HTML pages: every link within it leads to a file and an anchor, and nothing is loaded from
elsewhere.

Usage: links.py FOLDER            exit status 1 with a line for every fault
"""
import os
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

LOADED = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src")}


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.links = set(), []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids.update(value for name, value in attrs if name in ("id", "name") and value)
        for name in ("href", "src"):
            if attributes.get(name) and attributes.get("rel") != "canonical":
                self.links.append((tag, name, attributes[name]))


def main():
    folder = os.path.realpath(sys.argv[1])
    pages, faults = {}, []
    for root, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".html") and name != "404.html":  # the server may show 404.html in any folder
                page = pages[os.path.join(root, name)] = Page()
                with open(os.path.join(root, name), encoding="utf-8") as file:
                    page.feed(file.read())
    count = 0
    for path, page in pages.items():
        for tag, name, link in page.links:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                if (tag, name) in LOADED:
                    faults.append(f"{os.path.relpath(path, folder)} loads {link}")
                continue
            count += 1
            target = os.path.normpath(os.path.join(os.path.dirname(path), unquote(url.path))) if url.path else path
            if not os.path.isfile(target):
                faults.append(f"{os.path.relpath(path, folder)} links to {link}, which is not a file")
            elif url.fragment and target in pages and unquote(url.fragment) not in pages[target].ids:
                faults.append(f"{os.path.relpath(path, folder)} links to {link}, a page without this anchor")
    print("\n".join(faults + [f"{len(pages)} pages, {count} links, {len(faults)} faults"]))
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main())
