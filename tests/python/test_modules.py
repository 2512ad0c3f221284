"""The modules of the Python packages import each other in no circle; the product does not import the research, which
uses public modules only."""
import ast
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRODUCT, RESEARCH = ROOT / "python", ROOT / "research"


def statements(node):
    """The imports of a module, those within functions, too; not those for annotations only, which do not run."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child
        elif not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield from statements(child)


def imported(folder, path):
    """The names that a file imports: modules, or what they define."""
    package = path.relative_to(folder).parts[:-1]
    for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            above = package[:len(package) + 1 - node.level] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def files(folder):
    return sorted(folder.rglob("*.py"))


def graph(folder):
    """The modules of a package, each with the modules of the same package that it imports."""
    modules = {".".join(path.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__"): path
               for path in files(folder)}
    return {name: {next((found for found in (one, one.rpartition(".")[0]) if found in modules), name)
                   for one in imported(folder.parent, path)} - {name} for name, path in modules.items()}


def circles(edges):
    """Removes modules that import no other until none is left, or only those in circles and above them."""
    while free := [name for name, others in edges.items() if not others & edges.keys()]:
        edges = {name: others for name, others in edges.items() if name not in free}
    return sorted(edges)


def test_circles():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == ["a", "b", "c"]
    product = graph(PRODUCT / "trivance")
    assert "trivance.network" in product["trivance.planner"] and "trivance._library" in product["trivance.sweep.grid"]
    assert not circles(product)
    if RESEARCH.exists():
        assert not circles(graph(RESEARCH / "trivance_research"))


def test_product_without_research():
    for path in files(PRODUCT):
        assert not [name for name in imported(PRODUCT, path) if name.startswith("trivance_research")], path


@pytest.mark.skipif(not RESEARCH.exists(), reason="the research is not in the archive of `make dist`")
def test_research_uses_public_modules():
    for path in files(RESEARCH / "trivance_research") + files(RESEARCH / "published"):
        assert not [name for name in imported(RESEARCH, path) if name.startswith("trivance.") and "._" in name], path
