"""The modules of the Python packages: no package of the product imports the research, which uses public modules only."""
import ast
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = [ROOT / "python", ROOT / "research"]


def imported(folder, path):
    """The names that a file imports: modules, or what they define."""
    package = path.relative_to(folder).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join([*package[:len(package) + 1 - node.level], *filter(None, [node.module])]) if node.level else node.module
            yield from (f"{base}.{alias.name}" for alias in node.names)


def files(folder):
    return sorted(folder.rglob("*.py"))


def test_product_without_research():
    for path in files(FOLDERS[0]):
        assert not [name for name in imported(FOLDERS[0], path) if name.startswith("trivance_research")], path


@pytest.mark.skipif(not FOLDERS[1].exists(), reason="the research is not in the archive of `make dist`")
def test_research_uses_public_modules():
    for path in files(FOLDERS[1] / "trivance_research") + files(FOLDERS[1] / "published"):
        private = [name for name in imported(FOLDERS[1], path) if name.startswith("trivance.") and "._" in name]
        assert not private, (path, private)
