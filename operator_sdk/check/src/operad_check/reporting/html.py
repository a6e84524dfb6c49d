"""A report as one self-contained page: no script from elsewhere, no style from elsewhere.

One row per operator and one column per check, so that a pattern shows at a glance; a click opens what
was found, with the program that shows it. The page works without its script, which only filters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

from operad.files import read_text
from operad_check.register import entries

_MARKS: Final = {
    "passed": ("ok", "✓"),
    "does not apply": ("na", "·"),
    "expected failure": ("exp", "e"),
    "wrong": ("bad", "✗"),
    "undeclared": ("own", "?"),
    "hard": ("exp", "~"),
    "no evidence": ("bad", "0"),
    "unexpected pass": ("bad", "!"),
    "blocked": ("blk", "–"),
    "broken": ("own", "⚠"),
}
_BROKEN: Final = "broken, operad's own fault"

_MILDER: Final = {"undeclared_ids": "want a declaration", "hard_ids": "have figures that are not judged"}
"""Words on operators with the weaker verdicts, by the list of ids."""

_INAPPLICABLE: Final = {"does not apply"}
"""Statuses without a column: a check gets a column if some operator has another status."""

_LINKED: Final = ("bad", "exp", "own")
"""Statuses that are listed under the findings."""


_FILTER: Final = (
    '<p><label><input type="checkbox" id="only"> only what is not green</label>'
    '<label>find <input id="find" size="24"></label></p>'
)


def page(
    report: Mapping[str, Any],
    heading: str = "Operator contract report",
    notes: Iterable[tuple[str, str]] = (),
) -> str:
    """The page for a report as `Report.to_json()` or `operad check --json` gives it.

    Args:
        notes: Pairs of a word and what it comes to, shown above the table.
    """
    operators = report["operators"]
    statuses: dict[str, set[str]] = {}
    for op in operators:
        for outcome in op["outcomes"]:
            statuses.setdefault(outcome["check_id"], set()).add(str(outcome["status"]))
    ids = [id for id in entries() if statuses.get(id, _INAPPLICABLE) != _INAPPLICABLE]
    red = sum(bool(op["red_ids"]) for op in operators) + len(report["unusable"])
    count = len(operators) + len(report["unusable"])
    broken = sum(bool(op.get("broken_ids")) for op in operators)
    if red:
        verdict = f'<b class="bad">{red} of {count} operators break their contract.</b>'
    elif broken:
        verdict = "No operator was seen to break its contract."
    else:
        verdict = '<b class="ok">Every operator keeps its contract.</b>'
    for key, words in _MILDER.items():
        if some := sum(bool(op.get(key)) for op in operators):
            verdict += f' <b class="own">{some} of {count} operators {words}.</b>'
    if broken:
        verdict += f' <b class="own">Checks of {broken} of {count} operators are {_BROKEN}.</b>'
    return "".join(
        [
            '<!doctype html><html lang="en"><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(heading)}</title><style>\n{_file('page.css')}</style>",
            f'<h1>{escape(heading)}</h1><p class="sum">{verdict}</p>',
            _notes(notes),
            _legend(),
            _FILTER,
            _table(operators, ids, report["unusable"]),
            _findings(operators, report["unusable"]),
            _unproved(operators),
            _plans(operators),
            _explanations(ids),
            f"<script>\n{_file('page.js')}</script></html>",
        ]
    )


def _file(name: str) -> str:
    path = Path(__file__).with_name(name)
    return read_text(path, f"part {str(path)!r} of the page")


def _legend() -> str:
    words = {**dict(zip(_MARKS, _MARKS, strict=True)), "broken": _BROKEN}
    marks = "".join(f"<span>{mark} {escape(words[status])}</span>" for status, (_, mark) in _MARKS.items())
    return f'<p class="legend by">{marks}</p>'


def _notes(notes: Iterable[tuple[str, str]]) -> str:
    pairs = "".join(f"<dt>{escape(word)}</dt><dd>{escape(text)}</dd>" for word, text in notes)
    return f'<dl class="notes">{pairs}</dl>' if pairs else ""


def _table(operators: Sequence[Mapping[str, Any]], ids: Sequence[str], unusable: Iterable[str]) -> str:
    head = "".join(
        f'<th{_edge(id, ids)} title="{escape(entries()[id].title, quote=True)}"><span>{id}</span></th>'
        for id in ids
    )
    rows = "".join(_row(op, ids) for op in operators)
    rows += "".join(
        f'<tr data-name="{escape(name.lower(), quote=True)}" data-red="1"><td class="op"><code>{escape(name)}'
        f'</code></td><td class="bad gone" colspan="{len(ids) + 1}">could not be checked</td></tr>'
        for name in unusable
    )
    return (
        f'<div class="scroll"><table><thead><tr><th class="op">operator</th>{head}'
        f'<th class="num">seconds</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _edge(id: str, ids: Sequence[str]) -> str:
    """The attribute that draws a line before the first check of a group."""
    at = ids.index(id)
    return ' class="new"' if at == 0 or ids[at - 1][0] != id[0] else ""


def _row(op: Mapping[str, Any], ids: Sequence[str]) -> str:
    found = {outcome["check_id"]: outcome for outcome in op["outcomes"]}
    cells = "".join(_cell(op["operator"], found.get(id), _edge(id, ids)) for id in ids)
    name, provider = escape(op["operator"]), escape(f"{op['distribution']} {op['version']}".strip())
    search = escape(f"{op['operator']} {op['distribution']}".lower(), quote=True)
    reds = " ".join(
        f'<a href="#{_anchor(op["operator"], outcome)}">{escape(outcome["check_id"])}</a>'
        for outcome in op["outcomes"]
        if _MARKS[str(outcome["status"])][0] in ("bad", "own")
    )
    return (
        f'<tr data-name="{search}" data-red="{len(op["red_ids"]) + len(op.get("broken_ids", ()))}">'
        f'<td class="op"><code>{name}</code> <span class="by">{provider}</span>'
        f'<span class="reds">{reds}</span></td>{cells}'
        f'<td class="num">{op["seconds"]:.1f}</td></tr>'
    )


def _cell(operator: str, outcome: Mapping[str, Any] | None, edge: str) -> str:
    if outcome is None:
        return f"<td{edge}></td>"
    kind, mark = _MARKS[str(outcome["status"])]
    compared = sum(outcome["evidence"].values())
    title = (
        f"{outcome['check_id']} {outcome['status']}, {outcome['examples']} examples, {compared} comparisons"
    )
    if outcome["reason"]:
        title += f": {outcome['reason']}"
    body = f'<a href="#{_anchor(operator, outcome)}">{mark}</a>' if kind in _LINKED else mark
    return f'<td class="{kind}{" new" if edge else ""}" title="{escape(title, quote=True)}">{body}</td>'


def _anchor(operator: str, outcome: Mapping[str, Any]) -> str:
    return escape(f"{operator}-{outcome['check_id']}", quote=True)


def _findings(operators: Sequence[Mapping[str, Any]], unusable: Mapping[str, str]) -> str:
    found = [
        _finding(op, outcome)
        for op in operators
        for outcome in op["outcomes"]
        if _MARKS[str(outcome["status"])][0] in _LINKED
    ]
    found += [
        f"<details open><summary><code>{escape(name)}</code> could not be checked</summary>"
        f"<pre>{escape(error)}</pre></details>"
        for name, error in unusable.items()
    ]
    return f"<h2>What was found</h2>{''.join(found) or '<p>Nothing.</p>'}"


def _finding(op: Mapping[str, Any], outcome: Mapping[str, Any]) -> str:
    failure = outcome["failure"]
    shown = {"found": outcome["reason"]} if failure is None else {"found": failure["message"]}
    if failure is not None:
        shown |= {"smallest case": failure["case"] or "none", "fix": failure["fix"]}
    if failure is not None and outcome["reason"]:
        shown["reason"] = outcome["reason"]
    if outcome.get("echo_of"):
        shown["cause"] = f"probably {outcome['echo_of']}, which is red as well"
    pairs = "".join(f"<dt>{key}</dt><dd>{escape(value)}</dd>" for key, value in shown.items())
    program = "" if failure is None else f"<dt>program</dt><dd><pre>{escape(failure['script'])}</pre></dd>"
    if outcome.get("traceback"):
        program = f"<dt>traceback</dt><dd><pre>{escape(outcome['traceback'])}</pre></dd>"
    status = str(outcome["status"]).replace("broken", _BROKEN)
    is_open = " open" if str(outcome["status"]) != "expected failure" and not outcome.get("echo_of") else ""
    return (
        f'<details{is_open} id="{_anchor(op["operator"], outcome)}"><summary><b>{outcome["check_id"]}</b> '
        f"{escape(status)}: <code>{escape(op['operator'])}</code> "
        f'<span class="by">{escape(op["distribution"])} {escape(op["version"])}</span></summary>'
        f"<dl>{pairs}{program}</dl>"
        f'<p><a href="#check-{outcome["check_id"]}">what {outcome["check_id"]} is for</a></p></details>'
    )


def _unproved(operators: Sequence[Mapping[str, Any]]) -> str:
    """Section on what no check looked at, because an author declared so."""
    rows = "".join(
        f'<tr><td class="op"><code>{escape(op["operator"])}</code></td>'
        + "".join(f'<td class="gone">{escape(one[key])}</td>' for key in ("name", "what", "reason"))
        + "</tr>"
        for op in operators
        for one in op.get("unproved", ())
    )
    if not rows:
        return ""
    head = '<th class="op">operator</th><th>declared</th><th>what no check looked at</th><th>because</th>'
    return (
        f'<h2>Not proved</h2><div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _plans(operators: Sequence[Mapping[str, Any]]) -> str:
    """Section on the cases on which each operator was checked."""
    plans = "".join(_plan(op) for op in operators if op.get("coverage"))
    return f"<h2>The cases</h2>{plans}" if plans else ""


def _plan(op: Mapping[str, Any]) -> str:
    met = sum(each["cases"] > 0 for each in op["coverage"])
    rows = "".join(
        f'<tr><td class="op">{escape(each["kind"])}: {escape(each["goal"])}</td>'
        f'<td class="gone">{each["cases"] or each["lack"]}</td></tr>'
        for each in op["coverage"]
    )
    return (
        f"<details><summary><code>{escape(op['operator'])}</code> "
        f"{met} of {len(op['coverage'])} goals</summary>"
        f"<table>{rows}</table></details>"
    )


def _explanations(ids: Sequence[str]) -> str:
    texts = "".join(
        f'<details id="check-{one.id}"><summary><b>{one.id}</b> {escape(one.title)}</summary>'
        f"<p>{escape(one.why)}</p><pre>{escape(one.example)}</pre><p>Fix: {escape(one.fix)}</p></details>"
        for one in map(entries().__getitem__, ids)
    )
    return f"<h2>The checks</h2>{texts}"
