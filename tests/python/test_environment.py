"""Optional packages, warnings, processes and libraries: the package works, or one sentence names what is missing."""
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys

import pytest

import trivance as tv

from conftest import TOOL


def run(script, *options, without=()):
    """The output of a script in a Python of its own, in which some packages cannot be imported."""
    blocked = f"import sys\nsys.modules.update(dict.fromkeys({without!r}))\nimport trivance as tv\n"
    done = subprocess.run([sys.executable, *options, "-c", blocked + script], capture_output=True, text=True,
                          check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_without_pandas():
    assert run("table = tv.Schedule('ring', '9').simulate(sizes='1K,2K')\nprint(table.dtype.names, table['bytes'])\n"
               "print(tv.compare('9', 'ring', '1K')._repr_html_())", without=("pandas",)) == \
        "('bytes', 'time', 'messages', 'packets', 'packet_hops') [1024 2048]\nNone"


@pytest.mark.parametrize("package, call", [
    ("pandas", "tv.compare('9', 'ring', '1K').frame()"), ("matplotlib", "tv.compare('9', 'ring', '1K').plot()"),
    ("networkx", "tv.Network('9').to_networkx()"), ("IPython", "tv.Network('9').explore()")])
def test_without_an_optional_package(package, call):
    said = run(f"try:\n    {call}\nexcept tv.UnsupportedError as error:\n    print(error)", without=(package,))
    assert f"needs {package}, which cannot be imported" in said and "\n" not in said


def test_without_the_pytorch_backend(tmp_path):
    """The import states why it was not built and what it needs, as `trivance info` does."""
    package = pathlib.Path(tv.__file__).parent
    (tmp_path / "torch.py").symlink_to(package / "torch.py")
    said = run(f"tv.__path__ = [{str(tmp_path)!r}]\n"
               "try:\n    import trivance.torch\nexcept ModuleNotFoundError as error:\n    print(error)")
    facts = {row["name"]: row["value"] for row in json.loads(subprocess.check_output([TOOL, "info", "--format=json"]))}
    if (package / "torch").is_dir():
        assert facts["torch"].startswith("for torch ") and "python3-trivance-torch" in said
    else:
        assert said == f"trivance.torch, the PyTorch backend, is {facts['torch']}"
        assert "not built, because " in said and "libtorch-dev" in said


def test_progress_without_tqdm():
    assert run("print(bool(tv.Schedule('trivance-b', '27x27').verify(progress=True)))", without=("tqdm",)) == "True"


def test_without_warnings():
    assert run("s = tv.Schedule('trivance-b', '9x9')\ns.messages, s.transfers, s.combines, s.cost(), "
               "s.simulate(sizes='1K')\ntv.Simulator(s).run('1K', links=True)\ntv.compare('9', ['trivance', "
               "'planned'], '1K')\nprint(bool(s.verify()))", "-W", "error") == "True"


def test_after_fork():
    planner, schedule = tv.Planner("9x9"), tv.Schedule("trivance-b", "9x9")
    alone = planner.rank("1M", 2)[1].time, schedule.simulate(sizes="1K")["time"][0]
    child = os.fork()
    if child == 0:
        same = alone == (planner.rank("1M", 2)[1].time, schedule.simulate(sizes="1K")["time"][0])
        os._exit(0 if same and schedule.verify() else 1)
    assert os.waitpid(child, 0)[1] == 0


def _time(choice):
    return choice.schedule().simulate(choice.network, choice.size)["time"][0]


def test_choices_in_other_processes():
    choices = [tv.Network("8x8m", cuts=["3:+0"]).plan(size) for size in ("1K", "1M")]
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.map(_time, choices) == pytest.approx([choice.time for choice in choices])


def test_library_elsewhere(tmp_path):
    """A package without libraries takes them from TRIVANCE_LIBRARY."""
    place = pathlib.Path(tv.__file__).parent
    (tmp_path / "trivance").mkdir()
    for file in place.iterdir():
        if ".so" not in file.suffixes:
            (tmp_path / "trivance" / file.name).symlink_to(file.resolve())
    script = [sys.executable, "-c", "import trivance; print(trivance.plan('9', '1M').steps > 0)"]
    for folder, expected in ((place, "True\n"), (tmp_path, "")):
        done = subprocess.run(script, capture_output=True, text=True, check=False,
                              env={"PYTHONPATH": str(tmp_path), "TRIVANCE_LIBRARY": str(folder)})
        assert done.stdout == expected and ("cannot be loaded" in done.stderr) == (not expected)
