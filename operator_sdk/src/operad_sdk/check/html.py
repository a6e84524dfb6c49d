"""A report as one self-contained page: no script from elsewhere, no style from elsewhere.

One row an operator and one column a check, so that a pattern shows at a glance; a click opens what
was found, with the program that shows it. The page works without its script, which only filters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

from operad_sdk.check.catalogue import CATALOGUE

_MARKS: Final = {
    "passed": ("ok", "✓"),
    "does not apply": ("na", "·"),
    "expected failure": ("exp", "e"),
    "failed": ("bad", "✗"),
    "no evidence": ("bad", "0"),
    "unexpected pass": ("bad", "!"),
    "blocked": ("blk", "–"),
}

_STYLE: Final = """
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 84rem; padding: 0 1rem;
       color: #1c1c1c; background: #fff }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2.2rem }
.sum { font-size: 1.05rem } .sum b.bad { color: #b3261e } .sum b.ok { color: #1b6e3c }
.scroll { overflow-x: auto } table { border-collapse: collapse }
th, td { padding: .15rem .3rem; text-align: center; border-bottom: 1px solid #eee; white-space: nowrap }
th.op, td.op { text-align: left; position: sticky; left: 0; background: #fff }
thead th { font-weight: 600; font-size: .72rem; writing-mode: vertical-rl; transform: rotate(180deg) }
thead th.op { writing-mode: horizontal-tb; transform: none }
td.ok { color: #1b6e3c } td.bad { background: #fde7e5; color: #b3261e; font-weight: 700 }
td.na, td.blk { color: #aaa } td.exp { color: #8a6d00 } td.num { color: #666 }
details { border: 1px solid #ddd; border-radius: 6px; margin: .5rem 0; padding: .4rem .8rem }
summary { cursor: pointer } code, pre { font: 12.5px/1.4 ui-monospace, monospace }
pre { background: #f6f6f4; padding: .6rem; overflow-x: auto; border-radius: 4px }
dt { font-weight: 600; margin-top: .4rem } dd { margin-left: 1rem } .by { color: #666 }
label { margin-right: 1rem } .legend span { margin-right: 1.2rem }
"""

_FILTER: Final = (
    '<p><label><input type="checkbox" id="only"> broken only</label>'
    '<label>find <input id="find" size="24"></label></p>'
)
_SCRIPT: Final = """
const only = document.getElementById('only'), find = document.getElementById('find');
function show() {
  for (const row of document.querySelectorAll('tbody tr')) {
    const hit = row.dataset.name.includes(find.value.toLowerCase());
    row.hidden = !hit || (only.checked && row.dataset.red === '0');
  }
}
only.addEventListener('change', show); find.addEventListener('input', show);
"""


def page(report: Mapping[str, Any], heading: str = "Operator contract report") -> str:
    """The page for a report as `Report.to_json()` or `operad check --json` gives it."""
    operators = report["operators"]
    ids = sorted({outcome["check_id"] for op in operators for outcome in op["outcomes"]})
    red = sum(bool(op["red_ids"]) for op in operators) + len(report["unusable"])
    verdict = f'<b class="bad">{red} of them break it</b>' if red else '<b class="ok">all keep it</b>'
    count = len(operators) + len(report["unusable"])
    examples = sum(outcome["examples"] for op in operators for outcome in op["outcomes"])
    seconds = sum(op["seconds"] for op in operators)
    summary = (
        f'<p class="sum">{count} operators, {len(ids)} checks, {examples:,} examples in {seconds:,.0f} s '
        f"of checking: {verdict}.</p>"
    )
    return "".join(
        [
            '<!doctype html><html lang="en"><meta charset="utf-8">',
            f"<title>{escape(heading)}</title><style>{_STYLE}</style>",
            f"<h1>{escape(heading)}</h1>",
            summary,
            _legend(),
            _FILTER,
            _table(operators, ids),
            _findings(operators, report["unusable"]),
            _explanations(ids),
            f"<script>{_SCRIPT}</script></html>",
        ]
    )


def _legend() -> str:
    marks = "".join(f"<span>{mark} {escape(status)}</span>" for status, (_, mark) in _MARKS.items())
    return f'<p class="legend by">{marks}</p>'


def _table(operators: Sequence[Mapping[str, Any]], ids: Sequence[str]) -> str:
    head = "".join(f'<th title="{escape(CATALOGUE[id].title, quote=True)}">{id}</th>' for id in ids)
    rows = "".join(_row(op, ids) for op in operators)
    return (
        f'<div class="scroll"><table><thead><tr><th class="op">operator</th>{head}<th>seconds</th></tr>'
        "</thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def _row(op: Mapping[str, Any], ids: Sequence[str]) -> str:
    found = {outcome["check_id"]: outcome for outcome in op["outcomes"]}
    cells = "".join(_cell(op["operator"], found.get(id)) for id in ids)
    name, provider = escape(op["operator"]), escape(f"{op['distribution']} {op['version']}".strip())
    search = escape(f"{op['operator']} {op['distribution']}".lower(), quote=True)
    return (
        f'<tr data-name="{search}" data-red="{len(op["red_ids"])}">'
        f'<td class="op"><code>{name}</code> <span class="by">{provider}</span></td>{cells}'
        f'<td class="num">{op["seconds"]:.1f}</td></tr>'
    )


def _cell(operator: str, outcome: Mapping[str, Any] | None) -> str:
    if outcome is None:
        return "<td></td>"
    kind, mark = _MARKS[str(outcome["status"])]
    compared = sum(outcome["evidence"].values())
    title = (
        f"{outcome['check_id']} {outcome['status']}, {outcome['examples']} examples, {compared} comparisons"
    )
    if outcome["reason"]:
        title += f": {outcome['reason']}"
    body = f'<a href="#{_anchor(operator, outcome)}">{mark}</a>' if kind == "bad" else mark
    return f'<td class="{kind}" title="{escape(title, quote=True)}">{body}</td>'


def _anchor(operator: str, outcome: Mapping[str, Any]) -> str:
    return escape(f"{operator}-{outcome['check_id']}", quote=True)


def _findings(operators: Sequence[Mapping[str, Any]], unusable: Mapping[str, str]) -> str:
    found = [
        _finding(op, outcome)
        for op in operators
        for outcome in op["outcomes"]
        if _MARKS[str(outcome["status"])][0] in ("bad", "exp")
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
    pairs = "".join(f"<dt>{key}</dt><dd>{escape(value)}</dd>" for key, value in shown.items())
    program = "" if failure is None else f"<dt>program</dt><dd><pre>{escape(failure['script'])}</pre></dd>"
    is_open = " open" if str(outcome["status"]) != "expected failure" else ""
    return (
        f'<details{is_open} id="{_anchor(op["operator"], outcome)}"><summary><b>{outcome["check_id"]}</b> '
        f"{escape(str(outcome['status']))}: <code>{escape(op['operator'])}</code> "
        f'<span class="by">{escape(op["distribution"])} {escape(op["version"])}</span></summary>'
        f"<dl>{pairs}{program}</dl></details>"
    )


def _explanations(ids: Sequence[str]) -> str:
    entries = "".join(
        f"<details><summary><b>{id}</b> {escape(CATALOGUE[id].title)}</summary>"
        f"<p>{escape(CATALOGUE[id].why)}</p>"
        f"<pre>{escape(CATALOGUE[id].example)}</pre><p>Fix: {escape(CATALOGUE[id].fix)}</p></details>"
        for id in ids
    )
    return f"<h2>The checks</h2>{entries}"
