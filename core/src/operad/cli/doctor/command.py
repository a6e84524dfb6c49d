"""The command `operad doctor`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, final

import click

from operad import config, registry
from operad.cli.doctor import facts, metadata, surroundings, trial
from operad.cli.doctor.facts import Cache, Library, Setting, ThreadPool, Tuning
from operad.cli.doctor.finding import Finding
from operad.cli.doctor.load import Load, current_load, load_findings
from operad.cli.listing import Listing
from operad.cli.page import Mark, Page, Tone
from operad.cli.plugins import InstalledPlugin, listed_plugin, plugin_table
from operad.errors import ConfigError
from operad.registry import loading
from operad.system import available_cores

_TONES: Final[dict[str, Tone]] = {"error": "bad", "warning": "bad", "advice": "name"}


@final
@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Result of `operad doctor`.

    Attributes:
        versions: Of Python, the platform, operad, operad-sdk and operad-check; null where not installed.
        libraries: What operad and its toolkit use.
        settings: The settings in force.
        engine: The engine that a process gets.
        usable_cores: Cores this process may run on.
        thread_budget: Threads that engine workers and libraries use together.
        thread_pools: Pools in the libraries that are loaded.
        gpus: CUDA devices this process can use.
        load: How busy the machine was when the command began.
        plugins: The plugins, and their state after import.
        cache: The folder for compiled kernels.
        tuning: The constants of estimates.
        findings: What to know or do, errors first.
    """

    versions: dict[str, str | None]
    libraries: list[Library]
    settings: list[Setting]
    engine: str
    usable_cores: int
    thread_budget: int
    thread_pools: list[ThreadPool]
    gpus: int
    load: Load
    plugins: list[InstalledPlugin]
    cache: Cache
    tuning: Tuning
    findings: list[Finding]

    @property
    def exit_code(self) -> int:
        """1 where there is an error or a warning; advice may be left."""
        return int(any(finding.level != "advice" for finding in self.findings))

    def show(self, page: Page) -> None:
        """All of it, what to do last."""
        page.heading("Versions")
        page.pairs(
            [(name, version or Mark("not installed", "quiet")) for name, version in self.versions.items()]
        )
        page.heading("Libraries")
        page.table(
            ("library", "version", "used for"),
            [
                (entry.name, entry.version or Mark("not installed", "quiet"), entry.purpose)
                for entry in self.libraries
            ],
        )
        page.heading("Settings")
        page.table(
            ("variable", "value", "from"),
            [
                (s.variable, s.value or '""', Mark(s.origin, "quiet" if s.origin == "default" else "name"))
                for s in self.settings
            ],
        )
        page.heading("Engine and threads")
        pools = [
            f"{p.library} {p.version or ''} {p.threads} threads ({p.layer or p.file})"
            for p in self.thread_pools
        ]
        page.pairs([
            ("engine", self.engine),
            ("thread budget", f"{self.thread_budget} on {self.usable_cores} usable cores"),
            *(("thread pool", pool) for pool in pools),
            ("CUDA devices", str(self.gpus)),
            ("load", self.load.text()),
            ("cache", self.cache.text()),
            ("estimates", self.tuning.text()),
        ])  # fmt: skip
        page.heading("Plugins")
        plugin_table(page, self.plugins)
        page.heading("Findings")
        page.table(
            ("level", "about", "finding", "what to do"),
            [(Mark(f.level, _TONES[f.level]), f.about, f.text, f.suggestion) for f in self.findings],
        )
        if not self.findings:
            page.text(Mark("nothing is wrong", "good"))


@click.command(cls=Listing, result=Diagnosis)
@click.pass_context
def doctor(ctx: click.Context) -> Diagnosis:
    """Report what is installed, and what is wrong with it.

    Plugins are imported by a second process, so it works where one is broken. Exit code 1: there is an
    error or a warning.
    """
    root = ctx.find_root().command
    return diagnosis(list(root.commands) if isinstance(root, click.Group) else [])


def diagnosis(own_commands: Collection[str] = ()) -> Diagnosis:
    """Everything that can be found out without loading a plugin into this process.

    Args:
        own_commands: Names of the core's commands, which hide those of plugins.
    """
    busy = current_load()  # before a second process adds to it
    values = {reading.option.field: reading.value for reading in config.readings()}
    failed = [] if values["safe"] else trial.failed_plugins()
    libraries, pools, gpus = facts.libraries(), facts.thread_pools(), facts.gpu_count()
    folder, tuning = facts.cache(Path(values["cache_dir"])), facts.tuning(Path(values["cache_dir"]))
    found = [
        *surroundings.setting_findings([d.name for d in loading.current().manifest.distributions]),
        *metadata.metadata_findings(),
        *metadata.requirement_findings(),
        *metadata.entry_point_findings(own_commands),
        *_findings_under_settings(),
        *metadata.failure_findings(failed),
        *surroundings.pool_findings(pools),
        *surroundings.library_findings(libraries, gpus),
        *surroundings.cache_findings(folder),
        *surroundings.tuning_findings(tuning),
        *load_findings(busy),
    ]
    return Diagnosis(
        versions=facts.versions(),
        libraries=libraries,
        settings=facts.settings(),
        engine=values["engine"],
        usable_cores=available_cores(),
        thread_budget=values["num_threads"],
        thread_pools=pools,
        gpus=gpus,
        load=busy,
        plugins=_plugins(
            {plugin.name: plugin.reason for plugin in failed if not (plugin.extra or plugin.works)}
        ),
        cache=folder,
        tuning=tuning,
        findings=sorted(found, key=lambda finding: ("error", "warning", "advice").index(finding.level)),
    )


def _findings_under_settings() -> Iterator[Finding]:
    # Which plugins count is not known while a setting cannot be used, which is a finding by itself.
    try:
        yield from [*metadata.duplicate_findings(), *metadata.plugin_findings()]
    except ConfigError:
        return


def _plugins(failed: Mapping[str, str]) -> list[InstalledPlugin]:
    try:
        found = [listed_plugin(record) for record in registry.plugins()]
    except ConfigError:
        owners = loading.current().manifest.distributions
        return [
            InstalledPlugin(d.name, d.version, "unknown", "a setting cannot be used", {}, []) for d in owners
        ]
    return [replace(p, state="broken", reason=failed[p.name]) if p.name in failed else p for p in found]
