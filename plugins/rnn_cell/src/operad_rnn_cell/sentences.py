"""Sentences as lists of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from operad.errors import ParamError


def encode_sentences(
    sentences: Iterable[Iterable[Any]],
    vocab: Mapping[Any, int] | None = None,
    invalid_label: int = -1,
    invalid_key: Any = "\n",
    start_label: int = 0,
    unknown_token: Any = None,
) -> tuple[list[list[int]], dict[Any, int]]:
    r"""Words as numbers, and the number of each word.

    >>> encode_sentences([["to", "be"], ["be"]])
    ([[0, 1], [1]], {'\n': -1, 'to': 0, 'be': 1})

    Args:
        sentences: Lists of words.
        vocab: Numbers of words; None: they are given in the order of words, from `start_label` on.
        invalid_label: The number of no word, such as padding.
        invalid_key: What stands for it among the words.
        start_label: The first number.
        unknown_token: The word that others count as, where there is a `vocab`.

    Raises:
        ParamError: A word is not in `vocab`, nor is `unknown_token`.
    """
    numbers: dict[Any, int] = {invalid_key: invalid_label} if vocab is None else dict(vocab)
    following = start_label

    def number(word: Any) -> int:
        nonlocal following
        if vocab is not None:
            known = word if word in numbers else unknown_token
            if known not in numbers:
                raise ParamError(
                    f"encode_sentences: no number for {word!r}; add it to vocab, or an unknown_token"
                )
            return numbers[known]
        if word not in numbers:
            if following == invalid_label:
                following += 1
            numbers[word] = following
            following += 1
        return numbers[word]

    return [[number(word) for word in sentence] for sentence in sentences], numbers
