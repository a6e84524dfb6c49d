"""Faults of settings, threads, devices and folders."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from operad import config
from operad.cli.doctor.facts import Cache, Library, ThreadPool, Tuning, plugin_settings
from operad.cli.doctor.finding import Finding, advice, error, warning
from operad.registry.plugins import normalized
from operad.system import available_cores


def setting_findings(distributions: Collection[str]) -> Iterator[Finding]:
    """Settings that cannot be used, or name a distribution that is not there.

    Args:
        distributions: Names of the installed plugins.
    """
    for text in config.unknown_settings():
        problem, _, hint = text.partition("; ")
        yield error("settings", problem, f"{hint} (correct or unset it)")
    values = {}
    for reading in config.readings(plugin_settings()):
        values[reading.option.field] = reading.value
        if reading.problem is not None:
            yield error("settings", reading.problem, f"correct or unset {reading.option.variable}")
    installed = {normalized(name) for name in distributions}
    preferred = [name for wish in values["prefer"] for name in wish.split(">")]
    for variable, names in (("OPERAD_BLOCK", values["block"]), ("OPERAD_PREFER", preferred)):
        for name in names:
            # In safe mode it is not known what is installed.
            if not values["safe"] and normalized(name.strip()) not in installed:
                text = f"{variable} names {name.strip()!r}, which is no installed plugin"
                yield warning("settings", text, f"correct or unset {variable}; operad plugins lists them")
    if values["safe"]:
        yield warning(
            "settings", "OPERAD_SAFE=1 loads no plugin, so there is no operator", "unset OPERAD_SAFE"
        )
    if values["engine"] == "naive":
        text = "OPERAD_ENGINE=naive runs everything in the calling thread"
        yield advice("settings", text, "unset OPERAD_ENGINE when done with debugging")
    cores = available_cores()
    if values["num_threads"] > cores:
        text = f"OPERAD_NUM_THREADS={values['num_threads']}, and this process may run on {cores} cores"
        yield warning(
            "threads", text, "unset OPERAD_NUM_THREADS: more threads than cores wait for each other"
        )


_TOOLKIT: Final = (
    (
        "llvmlite",
        "vector",
        "no vector code: formulas, fusion, convolutions take NumPy 2 to 5 times as long",
    ),
    ("numba", "fast", "loops of operators, as those over boxes, run on NumPy; numba compiles them"),
)
"""Libraries of the toolkit's extras: name, extra, and what its absence takes away."""


def pool_findings(pools: Sequence[ThreadPool]) -> Iterator[Finding]:
    """Several pools of threads in one process, which wait for each other while they spin."""
    files = sorted({pool.file for pool in pools})
    if len(files) > 1:
        text = f"{len(files)} libraries with thread pools are loaded: {', '.join(files)}"
        yield advice("threads", text, "set OMP_WAIT_POLICY=PASSIVE, so that idle pools do not spin")


def library_findings(libraries: Sequence[Library], gpus: int) -> Iterator[Finding]:
    """Libraries whose absence takes something away."""
    missing = {library.name for library in libraries if library.version is None}
    if importlib.util.find_spec("operad_sdk") is None:
        yield advice(
            "operad-sdk", "the toolkit for writing operators is not installed", "pip install operad-sdk"
        )
    else:
        for name, extra, text in _TOOLKIT:
            if name in missing:
                yield advice("operad-sdk", text, f'pip install "operad-sdk[{extra}]"')
    if importlib.util.find_spec("operad_check") is None:
        text = "operad check, new, bench and tune are not installed"
        yield advice("operad-check", text, "pip install operad-check")
    if shutil.which("nvidia-smi") and "cupy" in missing:
        yield advice("gpu", "there is a CUDA driver and no CuPy", 'pip install "operad[gpu]"')
    elif "cupy" not in missing and not gpus:
        yield warning("gpu", "CuPy is installed and finds no CUDA device", "check the driver with nvidia-smi")


def tuning_findings(tuning: Tuning) -> Iterator[Finding]:
    """A file of measured constants that cannot be used, so that the shipped ones hold."""
    if tuning.problem is not None:
        yield warning("estimates", tuning.problem, f"delete {tuning.file}, or run operad tune")


def cache_findings(cache: Cache) -> Iterator[Finding]:
    """A cache folder that cannot be used."""
    if cache.problem is not None:
        text = f"{cache.problem}, so every process compiles its kernels again"
        yield warning("cache", text, "set OPERAD_CACHE_DIR to a folder of your own")
