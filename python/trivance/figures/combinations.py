"""Counts the claims that hold under every combination of queues per link, delivery rule and message rule."""
import csv
import os

from . import message_rules, rules, write
from .run import Result, run

NAME = "combinations.csv"
COLUMNS = ("model", "delivery", "message_rule", "agree", "differ")


def count(specs, quick, claims, kept, workers, folder):
    """Simulates the paper's figures under twelve combinations, writes the table and returns its rows."""
    rows = []
    for model in ("dateline", "fifo"):
        for delivery in ("head", "tail"):
            for rule in ("",) + message_rules.RULES:
                result = Result([s for s in specs if not s.planned], quick, (("delivery", delivery), ("model", model)),
                                studied=False)
                if rule:
                    result.trivance = ("trivance-l", f"trivance-b#{rule}")
                title = f"{model}, {delivery}, {message_rules.TITLES[rule]}"
                verdicts = [rules.check(run(title, result, kept, workers), claim).verdict for claim in claims]
                rows.append((model, delivery, message_rules.TITLES[rule], verdicts.count(rules.AGREES),
                             verdicts.count(rules.DIFFERS)))
    with write.output(os.path.join(folder, NAME)) as stream:
        csv.writer(stream, lineterminator="\n").writerows([COLUMNS, *rows])
    return rows


def read(folder):
    """The rows of an earlier call, or none."""
    try:
        with open(os.path.join(folder, NAME), encoding="utf-8", newline="") as stream:
            return list(csv.reader(stream))[1:]
    except FileNotFoundError:
        return []


def lines(rows):
    """The table as readable text."""
    return ("| queues | delivery | message rule | agree | differ |\n|---|---|---|---|---|\n"
            + "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows))
