"""Dropout, `Dropout`."""

from operad_dropout.dropout import Dropout as Dropout
