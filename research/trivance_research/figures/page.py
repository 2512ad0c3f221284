"""The page: one HTML file that opens without a network. The data are put into the template as one JSON object, which
page.js draws."""
import importlib.resources
import json
import math
from typing import Any, Iterable, Sequence, TextIO

import trivance

from . import catalogue, rules
from .measures import Figure, advantage, frame, own_switch, switch
from .run import Result, StudyRow, network_text


def _text(name: str, package: str = __package__) -> str:
    return importlib.resources.files(package).joinpath(name).read_text(encoding="utf-8")


def _numbers(values: Iterable[float]) -> list[float | None]:
    return [None if math.isnan(value) else float(f"{value:.12g}") for value in values]


def _published(figure: Figure) -> dict[str, Any]:
    """The times and advantages by the published rules, at some of the sizes."""
    return {"sizes": [int(size) for size in figure.axis],
            "curves": [{"key": curve.key, "other": _numbers(curve.other), "own": _numbers(curve.own),
                        "member": curve.member, "ownMember": curve.own_member, "advantage": _numbers(curve.advantage)}
                       for curve in figure.curves]}


def _figure(figure: Figure) -> dict[str, Any]:
    own = catalogue.own_of(figure.spec)
    curves = []
    for curve in figure.curves:
        data = {"key": curve.key, "title": curve.title, "colour": curve.colour, "other": _numbers(curve.other),
                "member": curve.member, "switch": switch(curve.member), "own": _numbers(curve.own),
                "ownMember": curve.own_member, "ownSwitch": own_switch(figure, curve)}
        if figure.spec.about_cuts:
            data |= {"worst": _numbers(curve.worst), "worstMember": curve.worst_member, "served": curve.served}
        curves.append(data)
    about_cuts = {"links": [int(links) for links in figure.axis], "networks": figure.networks}
    return {"number": figure.spec.number, "title": figure.spec.title, "torus": figure.spec.torus,
            "parameter": figure.spec.parameter, "cuts": about_cuts if figure.spec.about_cuts else None,
            "range": frame(figure), "own": {"key": own.key, "title": own.title, "colour": own.colour},
            "curves": curves, "published": _published(figure.published) if figure.published else None}


def _claim(result: Result, claim: Any) -> dict[str, Any]:
    judged = rules.judge(result, claim)
    why = rules.reason(result, claim, judged) if judged.verdict not in (rules.BOTH, rules.NOT_MEASURED) else ""
    return {"where": claim.section, "text": claim.text, "figures": claim.figures, "rule": judged.text.rule,
            "published": judged.published.measured, "measured": judged.text.measured, "verdict": judged.verdict,
            "why": why}


def _study(study: catalogue.Study, rows: list[StudyRow]) -> dict[str, Any]:
    return {"title": study.title, "text": study.text, "option": study.option, "value": study.values,
            "threshold": study.threshold,
            "rows": [{"torus": row.torus, "algorithm": row.algorithm, "bytes": row.size, "time": row.other,
                      "advantage": [advantage(*both) for both in zip(row.other, row.trivance)]} for row in rows]}


def write(result: Result, claims: Sequence[Any], tables: list[dict[str, Any]], stream: TextIO) -> None:
    axes = [figure.axis for figure in result.figures if not figure.spec.about_cuts]
    data = {"version": trivance.__version__, "command": result.command, "network": network_text(result.options),
            "simulations": result.all_simulations, "packetHops": result.all_packet_hops, "seconds": result.seconds,
            "baselines": [family.title for family in catalogue.baselines()],
            "sizes": [int(size) for size in max(axes, key=len, default=[])],
            "figures": [_figure(figure) for figure in result.figures],
            "claims": [_claim(result, claim) for claim in claims],
            "studies": [_study(*one) for one in result.studies], "assumptions": rules.ASSUMPTIONS,
            "verdicts": rules.VERDICTS,
            "tables": [{name: round(value, 4) if isinstance(value, float) else value for name, value in row.items()}
                       for row in tables]}
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False).replace("</", "<\\/")
    page = _text("page.html")
    for mark, content in (("/* page.css */", _text("theme.css", "trivance.plots") + _text("page.css")),
                          ("/* page.js */", _text("page.js")), ('{"data": "of the figures"}', text)):
        page = page.replace(mark, content)
    stream.write(page)
