"""Distance of operad from the record of whole models."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import operad as od
from tests.conformance.models import files
from tests.conformance.models.compute import computed, parameters
from tests.conformance.models.model import Model
from tests.conformance.models.record import ModelRecord
from tests.conformance.models.summary import Distance, distance, results

TOLERANCE: Final = 1e-5
"""Relative, of every output, norm of a gradient and auxiliary state."""


def from_description(model: Model, record: ModelRecord) -> Distance:
    """The model built here, beside MXNet's."""
    return from_symbol(model.symbol(od), model, record)


def from_symbol(symbol: od.Symbol, model: Model, record: ModelRecord) -> Distance:
    """Another symbol of the model."""
    return distance(results(computed(od, model, symbol, *parameters(od, model, symbol))), record.results)


def from_mxnets_files(model: Model, record: ModelRecord) -> Distance:
    """The checkpoint that MXNet saved, loaded here.

    Raises:
        ValueError: The parameters that stand for MXNet's are not those that it saved.
    """
    with TemporaryDirectory() as folder:
        symbol, params = files.write(od, model, Path(folder))
        if files.sha256(params) != record.params:
            raise ValueError(f"{model.name}: operad's file of parameters is not MXNet's, byte by byte")
        symbol.write_text(record.symbol, encoding="utf-8")
        return distance(results(files.computed_from(od, model, Path(folder))), record.results)


def digest_of_files(model: Model) -> str:
    """Digest of the files that operad writes today."""
    with TemporaryDirectory() as folder:
        return files.digest(*files.write(od, model, Path(folder)))
