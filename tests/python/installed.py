#!/usr/bin/env python3
"""An installed package works, and is the one in FOLDER. Usage: installed.py FOLDER"""
import os
import sys

sys.dont_write_bytecode = True
import trivance as tv  # noqa: E402

assert os.path.realpath(tv.__file__).startswith(os.path.realpath(sys.argv[1])), tv.__file__
schedule = tv.Schedule("trivance-b", "9")
assert schedule.verify() and len(schedule.messages) == 72 and "</svg>" in schedule.draw()
assert tv.Network("8x8m", cuts=["3:+0"]).plan("1MiB").time > 0 and schedule.export("goal")
print("trivance", tv.__version__, "of", os.path.dirname(tv.__file__))
