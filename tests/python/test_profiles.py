"""Profiles of networks."""
import json
import os

import pytest

import trivance as tv
from trivance import _library as L


def test_profiles(tmp_path):
    """Profiles are complete, each value has a source, and a file is read as those of the package."""
    assert list(tv.profiles()) == ["paper", "tofu-d-fjmpi", "tofu-d"]
    assert tv.Network.from_profile("8x8", "paper") == tv.Network("8x8")
    assert tv.profile_sources("tofu-d")["alpha"].startswith("fitted")
    network = tv.Network.from_profile("8x8", "tofu-d", alpha="1us")
    assert network == tv.Network.from_profile("8x8", "tofu-d").replace(alpha=1e-6)
    own = tmp_path / "own.json"
    own.write_text(json.dumps({"format": "trivance-network-1", "title": "own", "parameters": {
        "gamma": {"value": "0.5ns/stream", "source": "x"}, "no-forwarding": {"value": "yes", "source": "x"},
        "jitter": {"value": "10%", "source": "x"}, "shared-paths": {"value": "0:1", "source": "x"}}}))
    assert tv.Network.from_profile("8x8", str(own)) == tv.Network(
        "8x8", gamma="0.5ns", gamma_per_stream=True, forwarding=False, jitter=0.1, shared_paths=(0, 1))
    assert tv.Network.from_profile("8x8", str(own),
                                   gamma="1ns") == tv.Network.from_profile("8x8", str(own)).replace(gamma=1e-9) == \
        tv.Network("8x8", gamma="1ns", forwarding=False, jitter=0.1, shared_paths=(0, 1))
    for name, text in (("tofu", "expected one of paper, tofu-d-fjmpi, tofu-d"), (3, "the network is 3"),
                       (str(tmp_path / "none.json"), "cannot be read: No such file"),
                       (str(tmp_path) + "/", "cannot be read"),
                       ("/dev/zero", "'/dev/zero' is a device; expected a regular file or a pipe")):
        with pytest.raises(tv.ArgumentError, match=text):
            tv.Network.from_profile("8", name)
    for whole, text in (("{}", 'expected "format"'), ("[]", 'expected "format"'), ("{", "own.json:1:1: not valid JSON"),
                        ("[" * 100000, "not valid JSON"), ('{"format": "trivance-network-1"}', 'expected "parameters"'),
                        ('{"format": "trivance-network-1", "parameters": {}, "foo": 1}', 'there is no key "foo"')):
        own.write_text(whole)
        with pytest.raises(tv.ArgumentError, match=text):
            tv.Network.from_profile("8", str(own))
        assert L.formats.profile_read(os.fsencode(own), None, None) == tv.InvalidScheduleError.code
    assert L.formats.profile_read(b"tofu", None, None) == L.formats.profile_read(b"./none.json", None,
                                                                                 None) == tv.ArgumentError.code
    assert L.formats.profile_name(-1) is L.formats.profile_title(3) is None
    for parameters, text in (
            ('"alfa": {"value": "1us", "source": "x"}', "no parameter 'alfa'"),
            ('"link_latency": {"value": "1us", "source": "x"}', "no parameter 'link_latency'"),
            ('"nodes": {"value": "0", "source": "x"}', "no parameter 'nodes'"),
            ('"alpha": {"value": 1, "source": "x"}', '"alpha": expected an object with two strings'),
            ('"alpha": {"value": "1us"}', '"alpha": expected an object with two strings'),
            ('"alpha": "1us"', '"alpha": expected an object with two strings'),
            ('"alpha": {"value": "1us", "source": "x"}, "alpha": {"value": "2us", "source": "x"}', '"alpha"'),
            ('"alpha": {"value": "2Gb/s", "source": "x"}', "own.json:1:[0-9]+: '2Gb/s' is not a time"),
            ('"jitter": {"value": "0.5", "source": "x"}', "is not a share"),
            ('"seed": {"value": "x", "source": "x"}', "is not a whole number"),
            ('"shared-paths": {"value": "x", "source": "x"}', "expected all, one, or dimensions"),
            ('"no-forwarding": {"value": "1", "source": "x"}', "neither no nor yes")):
        own.write_text(f'{{"format": "trivance-network-1", "title": "own", "parameters": {{{parameters}}}}}')
        with pytest.raises(tv.ArgumentError, match=text):
            tv.Network.from_profile("8", str(own))
    # with a mark
    own.write_text('\ufeff{"format": "trivance-network-1", "parameters": {"seed": {"value": "4", "source": "x"}}}')
    assert tv.Network.from_profile("8", str(own)) == tv.Network("8", seed=4)
