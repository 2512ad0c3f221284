"""Texts of quantities and parameters have the same verdict, the same message and the same meaning in Python as in the
tool."""
import inspect
import json
import random
import subprocess

import pytest

import trivance as tv
from trivance import _library as L
from trivance._profiles import keyword_of

from conftest import EXHAUSTIVE, TOOL

QUESTION = ["simulate", "4x3", "--algorithm=bucket", "--format=json", "--limit"]
NEEDED = {"seed": ("jitter", "10%"), "path-bandwidth": ("shared-paths", "all")}  # other parameters would have no effect
KNOWN = ["", "0", "1", "7", "1.5", " 1us", "1us ", "1 us", "1.5us", "1.5µs", "1.5μs", "1gb/s", "1Gb/s", "100GB/s",
         "1kb/s", "0.5Kb/s", "20000Tb/s", "٣", "٣us", "1e400", "1e400us", "1e3ns", "1e-3us", ".5us", "5.us", "+1us",
         "-1us", "0x10us", "inf", "infs", "nan", "nanus", "0ns", "0us", "3600s", "3601s", "1,5us", "10%", "100%",
         "100.1%", "0.5", "0%", "2x", "0.5x", "down", "1e6x", "64K", "64KiB", "64 KiB", "64kb", "256", "255", "1M",
         "1025K", "1T", "1024T", "1025T", "99999999999999999999", "1.5K", "0.01ns/stream", "/stream", "fifo", "FIFO",
         "dateline", "head", "tail", "chosen", "fixed", "yes", "no", "all", "one", "0:1", "1", "0:2", "0:", ":", "00",
         "2147483647", "2147483648", "3:+0", "3:+0:one-way", "3:+0:both", "0:+1:4x", "0:+1:down", "0:-1:4", "12:+0",
         "3:+2", "3:0", "5:2x", "\udcff", "1\nus"]
LETTERS = "0123456789..:+-eE%x kKMGTiBbnusµ/"


def _text(rng):
    text = rng.choice(KNOWN)
    for _ in range(rng.choice((0, 0, 1, 2))):
        at = rng.randint(0, len(text))
        text = text[:at] + rng.choice(("", rng.choice(LETTERS))) + text[at + rng.randint(0, 1):]
    return text


def _network(name, text):
    if name == "slow-rank":
        rank, _, factor = text.partition(":")
        return tv.Network("4x3", slow_ranks={int(rank) if rank.isascii() and rank.isdigit() else rank: factor})
    if name == "slow-link":
        link, _, factor = text.rpartition(":")
        return tv.Network("4x3", slow={link: factor})
    given = [(name, text), *([NEEDED[name]] if name in NEEDED else [])]
    return tv.Network("4x3", **({"cuts": [text]} if name == "cut" else {keyword_of(one): text for one, text in given}))


def _tool(*options):
    done = subprocess.run([TOOL, *QUESTION, *options], capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode(errors="replace").strip()


@pytest.mark.parametrize("seed", range(1000 if EXHAUSTIVE else 150))
def test_parameters(seed):
    rng = random.Random(seed)
    for name in rng.sample([name for name, row in L.PARAMETERS.items() if row.kind != L.FLAG], 3):
        text = _text(rng)
        needed = ["--{}={}".format(*NEEDED[name])] if name in NEEDED else []
        code, answer, message = _tool(f"--{name}={text}", *needed, "--bytes=1K")
        what = f"{name} {text!r}: {message}"
        try:
            network = _network(name, text)
        except tv.TrivanceError as error:
            assert code == 2, f"{what}; {error}"
            if not name.startswith(("slow", "cut")) and " is not " in message:  # one sentence for both
                assert message.endswith(str(error).split(": ", 1)[1]), what
            continue
        if "cannot run" in message:  # an hour of simulated time
            with pytest.raises(tv.UnsupportedError):
                tv.Simulator(tv.Schedule("bucket", network)).time("1K")
            continue
        assert code == 0, what
        wanted = json.loads(answer)[0]["time_ns"]
        found = tv.Simulator(tv.Schedule("bucket", network)).time("1K") * 1e9
        assert found == pytest.approx(wanted, abs=0.001), what


@pytest.mark.parametrize("seed", range(500 if EXHAUSTIVE else 100))
def test_sizes(seed):
    rng = random.Random(seed)
    text = rng.choice((_text(rng), f"{_text(rng)}:{_text(rng)}", f"{_text(rng)},{_text(rng)}", "1K:4K:x1.5",
                       "1K:9K:+2K", "1:3:x", "1K:4K:4", f"1K:9K:{_text(rng)}"))
    code, answer, message = _tool(f"--bytes={text}")
    try:
        sizes = tv.parse_sizes(text)
    except tv.ArgumentError as error:
        assert code == 2 and message.endswith(str(error)), f"{text!r}: {message}; {error}"
    else:
        if code == 2:  # the tool simulates fewer sizes, and not every size
            assert any(words in message for words in ("sizes", "byte counts", "cannot run")), f"{text!r}: {message}"
        else:
            assert [one["bytes"] for one in json.loads(answer)] == sizes


def test_every_text():
    """The texts that the two parsers of earlier versions judged differently."""
    for text in ("0", " 1us", "٣us", "1e400us", "", "1us ", "1.5 us"):
        with pytest.raises(tv.ArgumentError, match="is not a time"):
            tv.Network("9", alpha=text)
    for text in ("1gb/s", "1 Gb/s", "0", "٣Gb/s"):
        with pytest.raises(tv.ArgumentError, match="is not a rate"):
            tv.Network("9", bandwidth=text)
    assert tv.Network("9", alpha="1.5us") == tv.Network("9", alpha=1.5e-6)
    assert tv.Network("9", jitter="10%", seed="7", shared_paths="0", gamma="0.5ns/stream") == tv.Network(
        "9", jitter=0.1, seed=7, shared_paths=(0,), gamma=5e-10, gamma_per_stream=True)


def test_keywords():
    """Every parameter is a keyword argument with its default and a sentence in the docstring; others are no
    keywords."""
    keywords = inspect.signature(tv.Network).parameters
    for name, row in L.PARAMETERS.items():
        if row.kind != L.LIST:
            default = keywords[keyword_of(name)].default
            assert f"\n    {keyword_of(name)} : " in tv.Network.__doc__
            assert tv.Network("9").options[keyword_of(name)] == default
            assert tv.Network("9", **{keyword_of(name): default}) == tv.Network("9")
    assert {"cuts", "slow", "slow_ranks", "nodes", "gamma_per_stream"} <= set(keywords)
    for keyword in ("alfa", "no_forwarding", "slow_rank", "one_path"):
        with pytest.raises(TypeError, match=keyword):
            tv.Network("9", **{keyword: 1})
