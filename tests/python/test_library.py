"""The structures and functions in _library.py are those of the public headers."""
import ctypes as c
import pathlib
import re
import shutil
import subprocess

import pytest

from trivance import _library as L

HEADERS = pathlib.Path(__file__).resolve().parents[2] / "include"
STRUCTURES = {name: kind for name, kind in vars(L).items() if isinstance(kind, type) and issubclass(kind, c.Structure)}
TABLE = {name: (result, letters) for table in (L.CORE, L.FORMATS) for result, functions in table.items()
         for name, letters in re.findall(r"(\w+)(?: (\w+))?", functions)}
LETTER = {"int": "i", "unsigned": "I", "int64_t": "q", "uint64_t": "Q", "double": "d", "bool": "?"}
RESULT = {"i": c.c_int, "q": c.c_int64, "?": c.c_bool, "s": c.c_char_p, "": None}


def test_structures(tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    lines = []
    for name, kind in STRUCTURES.items():
        own = "trv" + re.sub("([A-Z])", lambda m: "_" + m.group(1).lower(), name) + "_t"
        lines.append(f'printf("{name} %zu", sizeof({own}));')
        lines += [f'printf(" {field[0]} %zu", offsetof({own}, {field[0].rstrip("_")}));' for field in kind._fields_]
        lines.append('printf("\\n");')
    (tmp_path / "layout.c").write_text("#include <stddef.h>\n#include <stdio.h>\n#include <trivance/trivance.h>\n"
                                       "#include <trivance/formats.h>\nint main(void)\n{\n" + "\n".join(lines)
                                       + "\n}\n")
    subprocess.run([compiler, f"-I{HEADERS}", "-o", tmp_path / "layout", tmp_path / "layout.c"], check=True)
    found = subprocess.run([tmp_path / "layout"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(found) == len(STRUCTURES) > 20
    for line, (name, kind) in zip(found, STRUCTURES.items()):
        offsets = "".join(f" {field[0]} {getattr(kind, field[0]).offset}" for field in kind._fields_)
        assert line == f"{name} {c.sizeof(kind)}{offsets}"


def _letter(declaration):
    """The letter of a parameter, or of a result."""
    words = declaration.replace("*", " * ").split()
    if "char" in words:
        return "s"
    if "*" in words:
        return "P"
    kind = next(word for word in words if word != "const")
    return "" if kind == "void" else LETTER.get(kind, "i")  # enumerations are int


@pytest.mark.parametrize("name", sorted(TABLE))
def test_function(name):
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted((HEADERS / "trivance").glob("*.h")))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    found = re.search(rf"TRV_API ([\w *]+?)trv_{name}\((.*?)\);", text, re.S)
    parameters = re.sub(r"(\w+) \(\*\w+\)\(([^)]*)\)", lambda m: "W" if m.group(1) == "void" else "F", found.group(2))
    letters = "".join(one.strip() if one.strip() in "WF" else _letter(one) for one in parameters.split(","))
    result, own = TABLE[name]
    assert own == letters
    assert result is RESULT.get(_letter(found.group(1)),
                                result) and (_letter(found.group(1)) != "P" or result not in RESULT.values())


def test_orders():
    """The names are those of the library, in the order of their numbers."""
    name = c.CDLL(str(pathlib.Path(L.__file__).parent / "libtrivance.so.0")).trv_order_name
    name.restype = c.c_char_p
    header = (HEADERS / "trivance/network.h").read_text(encoding="utf-8")
    assert len(L.ORDERS) == len(set(re.findall(r"TRV_ORDER_\w+", header)))
    assert L.ORDERS == tuple(name(number).decode() for number in range(len(L.ORDERS)))
