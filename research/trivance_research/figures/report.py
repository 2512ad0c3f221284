"""The report, evaluation.md: every claim of the paper with the measured value, and the parameters of the results."""
import importlib.resources
import string
from collections import Counter
from statistics import median
from typing import Any, Sequence, TextIO

from . import catalogue, combinations, counted, message_rules, rules
from .measures import Figure, advantage, break_even, exactly, percent
from .run import Result, StudyRow, network_text
from .write import markdown, read_csv

SHOWN = (6, 8, 11, 12)  # the other figures are on the page
HEAD = ("section", "the paper", "figure", "rule", "published rules", "text", "holds by")
SMALL = 64 << 10
ORDERS = "chunk-order.csv"
Findings = list[tuple[Any, rules.Judgement]]


def write(result: Result, claims: Sequence[Any], tables: list[dict[str, Any]], folder: str, stream: TextIO) -> None:
    """Writes the report, with the tables that other commands wrote to the folder."""
    template = importlib.resources.files(__package__).joinpath("report.md").read_text(encoding="utf-8")
    findings = [(claim, rules.judge(result, claim)) for claim in claims]
    stream.write(string.Template(template).substitute(
        command=result.command, network=network_text(result.options), first=exactly(result.sizes[0]),
        last=exactly(result.sizes[-1]), simulations=result.simulations, hops=f"{result.packet_hops / 1e9:.2f}",
        baselines=_list([family.title for family in catalogue.baselines()]), assumptions=rules.ASSUMPTIONS,
        figures="".join(f"![Figure {number}: advantage of Trivance on a {figure.spec.title}]"
                        f"(figures/figure-{number:02d}.svg)\n\n" for number in SHOWN
                        if (figure := result.find(number))),
        largest=_largest(result), message_rules="" if result.quick else _message_rules(),
        combinations=_combinations(read_csv(folder, combinations.NAME)), orders=_orders(read_csv(folder, ORDERS)),
        studies="".join(_study(result, study, rows) for study, rows in result.studies),
        **_summary(result, findings), **_claims(result, findings), **_tables(tables)))


def _list(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


# ---- Summary ---------------------------------------------------------------------------------------------------------

def _summary(result: Result, findings: Findings) -> dict[str, Any]:
    verdicts, texts = Counter(judged.verdict for _, judged in findings), Counter(judged.text.verdict
                                                                                 for _, judged in findings)
    published = Counter(judged.published.verdict for _, judged in findings)
    reasons = [rules.reason(result, claim, judged) for claim, judged in findings if judged.verdict == rules.NEITHER]
    lost = sum(reason.startswith(rules.NOT_REPRODUCED) for reason in reasons)
    return {"agreement": _agreement(result), "text": texts[rules.AGREES],
            "measured": texts[rules.AGREES] + texts[rules.DIFFERS], "published": published[rules.AGREES],
            "published_measured": published[rules.AGREES] + published[rules.DIFFERS],
            "lost": lost,
            "read": len(reasons) - lost} | {name.split()[0] + "_only": verdicts[name] for name in rules.VERDICTS}


def _agreement(result: Result) -> str:
    """A sentence on the tori on which Trivance is the fastest for small vectors, and beyond 1 MiB."""
    paper = [f for f in result.figures if not f.spec.parameter and not f.spec.beyond]
    if not paper:
        return ""
    small = {f.spec.torus: [float(gain) for size, gain in zip(f.axis, f.best) if size <= SMALL] for f in paper}
    ahead = [torus for torus, gains in small.items() if min(gains) > 0]
    behind = [f"{torus} ({percent(min(gains))})" for torus, gains in small.items() if torus not in ahead]
    far = [f.spec.torus for f in paper if break_even(f.axis, f.best).first > 1 << 20]
    text = ""
    if ahead:
        least, most = min(min(small[torus]) for torus in ahead), max(max(small[torus]) for torus in ahead)
        text = (f"Up to {exactly(SMALL)} Trivance is the fastest at every size on {_list(ahead)}, by {percent(least)} "
                f"to {percent(most)}")
    if behind:
        text += f"{', but not ' if text else 'Trivance is not the fastest at every size '}on {_list(behind)}"
    return text + (f". It stays ahead beyond 1 MiB on {_list(far)}." if far else ".")


# ---- Claims ----------------------------------------------------------------------------------------------------------

def _rows(findings: Findings) -> str:
    return markdown(HEAD, [(claim.section, claim.text, ", ".join(map(str, claim.figures)), judged.text.rule,
                            judged.published.measured, judged.text.measured,
                            "**neither**" if judged.verdict == rules.NEITHER else judged.verdict)
                           for claim, judged in findings])


def _claims(result: Result, findings: Findings) -> dict[str, str]:
    others = [one for one in findings if one[1].verdict == rules.NOT_MEASURED]
    text = _rows([one for one in findings if one not in others])
    if others:
        text += (f"\n<details><summary>{len(others)} claims about figures that this run does not include</summary>\n\n"
                 f"{_rows(others)}\n</details>\n")
    reasons = "".join(f"- **{claim.text}** ({judged.verdict}). {why}\n" for claim, judged in findings
                      if judged.verdict not in (rules.BOTH, rules.NOT_MEASURED)
                      and (why := rules.reason(result, claim, judged)))
    verdicts = Counter(judged.verdict for _, judged in findings)
    by = {rules.PUBLISHED: "the published rules", rules.TEXT: "the text"}
    count = f"{len(findings)} claims: " + ", ".join(f"{verdicts[name]} by {by.get(name, name)}"
                                                    for name in rules.VERDICTS)
    return {"claims": text, "reasons": reasons,
            "count": count + (f", {len(others)} were not measured in this run" if others else "")}


# ---- Vectors, studies, tables ----------------------------------------------------------------------------------------

def _largest(result: Result) -> str:
    """The advantage over the fastest at the largest size and the break-even, as run and with one queue per link."""
    def cells(run: Result | None, figure: Figure) -> list[object]:
        same = run and run.find(figure.spec.number)
        return [percent(same.best[-1]), break_even(same.axis, same.best)] if same else ["", ""]

    return markdown(("figure", "torus", "Theta", "as run", "", "one queue", ""), [
        (figure.spec.number, figure.spec.torus, f"{counted.theta(figure.spec.torus):.3f}", *cells(result, figure),
         *cells(result.variants.get("one queue per link"), figure))
        for figure in result.figures if not figure.spec.parameter and not figure.spec.beyond])


def _message_rules() -> str:
    return ("## Three message rules\n\nWhere a side is no power of three, section 4 has three answers to how much the "
            "bandwidth-optimal Trivance sends. The simulated rule is that of the blocks that must move: each crosses "
            "one edge per phase, as in section 4.4 (any size, at most 2m per rank). Algorithm 1, taken literally, also "
            "marks blocks that arrive by another way, and m/3^(k+1) of section 4.1 (reduce-scatter) holds for powers "
            "of three. Steps, peers and routes are the same. Delta is the number of bytes that a rank sends / 2m, "
            "Theta the busiest link's bytes / (m/D).\n\n"
            + markdown(("torus", "Delta", "Algorithm 1", "m/3^(k+1)", "Theta", "Algorithm 1", "m/3^(k+1)"), [
                [torus] + [f"{value:.3f}" for values in zip(*costs) for value in values]
                for torus, costs in message_rules.table()]) + "\n")


def _combinations(rows: list[dict[str, str]]) -> str:
    if not rows:
        return ""
    return ("Claims that hold under every combination of queues, delivery and message rule "
            f"(`trivance figures --combinations`):\n\n{combinations.table(rows)}\n")


def _orders(rows: list[dict[str, str]]) -> str:
    if not rows:
        return f"Not measured in this run; it would be with the program's output in {ORDERS} in the folder.\n"

    text = "The time in opposite order by that in aligned order:"
    for name in dict.fromkeys(row["algorithm"] for row in rows):
        ratios = [float(row["opposite_by_aligned"]) for row in rows if row["algorithm"] == name]
        text += (f" {name} {median(ratios):.3f}, the median of {len(ratios)} runs, from {min(ratios):.3f} to "
                 f"{max(ratios):.3f};")
    return (text[:-1] + ".\n\n"
            + markdown(("torus", "algorithm", "chunks", "aligned", "opposite", "opposite / aligned", "limit",
                        "arrived, aligned", "arrived, opposite"),
                       [(row["torus"], row["algorithm"], row["chunks"], f"{row['aligned_us']} us",
                         f"{row['opposite_us']} us", row["opposite_by_aligned"], f"{row['limit_us']} us",
                         *(f"{100 * float(row[name]):.0f} %" for name in ("aligned_arrived", "opposite_arrived")))
                        for row in rows]))


def _study(result: Result, study: catalogue.Study, rows: list[StudyRow]) -> str:
    if not rows:
        return ""
    first, second = study.values
    shown = [row for row in rows if abs(row.change) >= study.threshold]
    text = f"## {study.title}\n\n{study.text}\n\n" + markdown(
        ("torus", "algorithm", "size", first, second, "change", f"advantage of Trivance, {first}",
         f"advantage, {second}"),
        [(row.torus, row.algorithm, exactly(row.size), *(f"{time / 1e3:.2f} us" for time in row.other),
          f"{'+' if 0 <= row.change <= 100 else ''}{percent(row.change)}",
          *(percent(advantage(*both)) for both in zip(row.other, row.trivance))) for row in shown])
    if study.threshold > 0:
        text += (f"\nThe other {len(rows) - len(shown)} of the {len(rows)} that were compared differ by less than "
                 f"{study.threshold:g} %.\n")
    if study.values == ("0ns", "0.01ns") and not result.quick:
        text += "\n" + _volumes()
    return text + "\n"


VOLUMES = (("27x27", "trivance-b", "1.5 m"), ("32x32", "trivance-b", "1.5 m"), ("27x27", "bruck-b", ""),
           ("32x32", "swing-b", "2 m"), ("32x32", "recdoub-b", "2 m"), ("32x32", "bucket", "2 m"))


def _volumes() -> str:
    return ("Operands that a rank's reductions read and results that they write, in vectors, counted from the "
            "schedules. The paper's 1.5 m and 2 m are operands: a joint reduction reads three, two plain ones read "
            "four. A joint reduction writes half as much: one result instead of two.\n\n"
            + markdown(("torus", "algorithm", "operands", "results", "by the paper"), [
                (torus, algorithm, *(f"{volume:.3f} m" for volume in counted.reduced(torus, algorithm)), paper)
                for torus, algorithm, paper in VOLUMES]))


def _tables(rows: list[dict[str, Any]]) -> dict[str, str]:
    share = {}
    for number in (1, 2):
        mine = [row for row in rows if row["table"] == number]
        share[f"table{number}"] = f"{sum(row['agrees'] for row in mine)} of {len(mine)} rows"
    return share
