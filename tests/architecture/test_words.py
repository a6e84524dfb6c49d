"""Words of pages, docstrings, messages and comments: titles are nouns or verbs, and terms are the field's.

Titles are no clauses (`Return whether ...`, not `Whether ...`). `TERMS` lists private words that have a
standard one; a text that uses one again fails, with the standard word.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.workspace import ROOT

ROOMS = [
    "contrib_ops/*/src",
    "core/src",
    "operator_sdk/*/src",
    "plugins/*/src",
    "tests/architecture",
    "tests/benchmarks",
    "tests/conformance",
    "tools",
]
CLAUSE = re.compile(r"(What|Who|Whose|Whom|Where|How|Whether|That|Which)(ever)?\b")

TERMS = {
    r"whole numbers?": "integers",
    r"truth values": "booleans",
    r"told apart": "distinguished",
    r"in turns": "alternately, interleaved",
    r"mend(?:s|ed|ing)?": "fix",
    r"anew": "again, start over",
    r"let go of|(?:is|are|be) let go": "release",
    r"gradient that arrives": "gradient with respect to the output",
    r"len[dt]s? out": "allocate, in use",
    r"far out": "far from 0",
    r"no operation is waited for|(?:is|are) waited for": "waits for, blocks",
    r"how they fare": "state",
    r"(?:whatever )?comes from above|gradient from above": "gradient with respect to the output",
    r"no functions? of elements": "not element-wise",
    r"in the midst": "inside, during",
    r"one's own": "your own",
    r"limbo|crew|mortal|chores|detours|pristine|virgin|standstill|spoilt": "the word of the field",
}
"""Terms that texts avoid, as regular expressions of whole words, with what they say instead."""
PAGES = [
    "README.md", "CONTRIBUTING.md", "SECURITY.md", "changes/*.md", "docs/**/*.md", "plugins/*/README.md",
    "operator_sdk/*/README.md", "contrib_ops/*/README.md",
]  # fmt: skip
RECORDS = ROOT / "docs/decisions"
"""Decisions keep the words of their day."""


def files_of(room: str) -> Iterator[Path]:
    """Python files of the folders that match a pattern."""
    for folder in sorted(ROOT.glob(room)):
        yield from sorted(folder.rglob("*.py"))


def clauses(source: str) -> list[tuple[int, str]]:
    """Line and first line of each docstring, of attributes too, that begins as a clause."""
    strings = [
        node.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    titles = [(node.lineno, node.value.strip()) for node in strings if isinstance(node.value, str)]
    return [(line, title.partition("\n")[0]) for line, title in titles if CLAUSE.match(title)]


@pytest.mark.parametrize("room", ROOMS)
def test_titles_are_nouns_or_verbs(room: str) -> None:
    files = list(files_of(room))
    assert files
    found = [f"{file.relative_to(ROOT)}:{line}: {title}" for file in files
             for line, title in clauses(file.read_text("utf-8"))]  # fmt: skip
    assert not found, "say what it is or does, such as 'Return whether ...':\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("source", "is_clause"),
    [
        ('"""Whether it rains."""', True),
        ('def f():\n    """What `f` gives.\n\n    More.\n    """', True),
        ('class A:\n    x = 1\n    """How often."""', True),
        ('"""Whoever reads this."""', True),
        ('"""Return whether it rains."""', False),
        ('"""Whatsit: a thing."""', False),
        ('x = "What is this?"', False),
    ],
)
def test_the_rule_tells_clauses_from_titles(source: str, is_clause: bool) -> None:
    assert bool(clauses(source)) is is_clause


def terms_in(text: str) -> list[tuple[int, str, str]]:
    """Line, term and standard word of each term that a text should not use."""
    return [
        (text.count("\n", 0, found.start()) + 1, found[0], word)
        for term, word in TERMS.items()
        for found in re.finditer(rf"\b(?:{term})\b", text)
    ]


def texts_of(source: str) -> str:
    """The source with all that is no string and no comment blanked, so that lines stay where they are."""
    kinds = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    lines: list[str] = [""] * (source.count("\n") + 2)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in kinds:
            for number, line in enumerate(token.string.splitlines(), start=token.start[0]):
                lines[number] += f" {line}"
    return "\n".join(lines[1:])


def test_pages_use_the_words_of_the_field() -> None:
    pages = [page for pattern in PAGES for page in sorted(ROOT.glob(pattern)) if RECORDS not in page.parents]
    assert len(pages) > 100
    found = [f"{page.relative_to(ROOT)}:{line}: {term!r}: {word}" for page in pages
             for line, term, word in terms_in(page.read_text("utf-8"))]  # fmt: skip
    assert not found, "\n".join(found)


@pytest.mark.more
@pytest.mark.parametrize("room", [room for room in ROOMS if room.endswith("src")])
def test_docstrings_messages_and_comments_use_the_words_of_the_field(room: str) -> None:
    found = [f"{file.relative_to(ROOT)}:{line}: {term!r}: {word}" for file in files_of(room)
             for line, term, word in terms_in(texts_of(file.read_text("utf-8")))]  # fmt: skip
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("source", "terms"),
    [
        ('x = "a whole number"', [(1, "whole number")]),
        ("\n# begun anew\n", [(2, "anew")]),
        ('"""One.\n\nIt was mended."""', [(3, "mended")]),
        ("for one in turns:\n    pass", []),
        ('x = "amended"', []),
    ],
)
def test_terms_are_found_in_strings_and_comments_alone(source: str, terms: list[tuple[int, str]]) -> None:
    assert [(line, term) for line, term, _ in terms_in(texts_of(source))] == terms
