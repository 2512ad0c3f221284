"""Nothing leaks: 10,000 schedules, their messages, simulators, planners, drawings and failures."""
import gc

import trivance as tv


def _resident():
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def _work(number):
    schedule = tv.Schedule("trivance-b", ("9", "4x4", "27")[number % 3])
    assert len(schedule.messages)
    tv.Simulator(schedule).time(1000)
    if number % 10 == 0:
        assert schedule.verify() and schedule.cost().steps
        tv.Schedule.from_messages(schedule.torus, schedule.transfers, schedule.combines, units=schedule.units).draw()
        tv.Planner(schedule.torus).rank(1000, 2)
    try:
        tv.Schedule("ring", "4x4")
    except tv.UnsupportedError:
        pass


def test_no_leak(exhaustive):
    count = 10000 if exhaustive else 500
    for number in range(300):
        _work(number)
    before = _resident()
    for number in range(count):
        _work(number)
    assert _resident() - before < (8 << 20), "memory grew"
