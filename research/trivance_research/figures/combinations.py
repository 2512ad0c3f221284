"""Counts the claims that hold under every combination of queues per link, delivery rule and message rule."""
import csv
import os
from typing import Any, Sequence

from trivance.plots.svg import output

from . import message_rules, rules, write
from .catalogue import Spec
from .points import Kept
from .run import Result, run

NAME = "combinations.csv"
COLUMNS = ("queues", "delivery", "message rule", "agree", "differ")


def count(specs: list[Spec], quick: bool, claims: Sequence[Any], kept: Kept, workers: int,
          folder: str) -> list[dict[str, Any]]:
    """Simulates the paper's figures under twelve combinations, writes the table and returns its rows."""
    rows = []
    for model in ("dateline", "fifo"):
        for delivery in ("head", "tail"):
            for rule, title in message_rules.TITLES.items():
                result = Result([s for s in specs if not s.planned], quick, (("delivery", delivery), ("model", model)),
                                studied=False)
                if rule:
                    result.trivance = ("trivance-l", f"trivance-b#{rule}")
                run(f"{model}, {delivery}, {title}", result, kept, workers)
                verdicts = [rules.check(result, claim).verdict for claim in claims]
                rows.append(dict(zip(COLUMNS, (model, delivery, title, verdicts.count(rules.AGREES),
                                               verdicts.count(rules.DIFFERS)))))
    with output(os.path.join(folder, NAME)) as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return rows


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Rows as a table of Markdown, with their keys as headings."""
    return write.markdown(list(rows[0]), [row.values() for row in rows])
