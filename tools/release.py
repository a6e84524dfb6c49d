"""Release every distribution: bump the version, build, check, tag, in one command.

    python -m tools.release 0.3.0          # a rehearsal: wheels and sdists in build/release/0.3.0
    python -m tools.release 0.3.0 --tag    # the same, and then the commit and the tag v0.3.0 here
    python -m tools.release 0.3.0 --twice  # builds in two clones, and compares every byte

All of it happens in temporary clones of the last commit. This checkout is changed by the last step alone,
a fast-forward to the finished commit, so whatever fails leaves it as it was. Nothing is uploaded: that is
`twine upload` of the folder, by a person.

Files are built from a clone of the release's commit, in which no check has run, and carry that commit's time
(`SOURCE_DATE_EPOCH`). The same tools build the same bytes again from the tag.
"""

from __future__ import annotations

import argparse
import filecmp
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from zipfile import ZipFile

from build import BuildBackendException, BuildException, ProjectBuilder
from packaging.metadata import Metadata
from packaging.requirements import Requirement
from packaging.version import InvalidVersion, Version
from pyproject_hooks import quiet_subprocess_runner

from tools.workspace import ROOT, Distribution, distributions

CHECKS: Final = "make check test-all"
"""Commands that must pass in the clone with the new version, before anything is tagged."""

_DUNDER: Final = (Path("core/src/operad/__init__.py"), "__version__")
_STUBS: Final = (Path("plugins/standard/stubs/operad-stubs/__init__.pyi"), "__version__")
_EXPECTED: Final = (Path("tests/architecture/test_distributions.py"), "VERSION")
_PAGES: Final = "docs/authoring"
_TEMPLATES: Final = "src/*/new/templates"
_CHANGES: Final = "changes/+*.md"


class ReleaseError(Exception):
    """A release cannot be made; the message says why, and what to do."""


def release(
    root: Path,
    version: str,
    folder: Path,
    *,
    checks: str,
    only: Sequence[str],
    tag: bool,
    twice: bool = False,
) -> None:
    """Bump, build and check in a clone of `root`, and put wheels and sdists into `folder`.

    Args:
        version: The new one; it is later than the one that stands.
        folder: Where the files go; it does not exist, or is empty.
        checks: A command that must succeed in the clone; "" runs none.
        only: Names of the distributions to build; none: all.
        tag: Whether `root` gets the commit and the tag `v<version>` in the end.
        twice: Whether everything is built in a second clone, too, and must have the same bytes there.

    Raises:
        ReleaseError: The checkout has changes, the version or the folder will not do, or a step failed.
    """
    _check_checkout(root, version, folder)
    with TemporaryDirectory(prefix="operad-release-") as name:
        place = Path(name)
        clone, made, again = place / "clone", place / "made", place / "again"
        _clone(root, clone)
        bump(clone, version, date.today())
        if checks:
            _run(clone, *shlex.split(checks))
        _commit(clone, root, version)
        for target in (made, again) if twice else (made,):
            source = place / f"source-of-{target.name}"
            _clone(clone, source)
            build(_chosen(source, only), version, target, epoch=_epoch(source))
        if twice:
            compare(made, again)
        shutil.copytree(made, folder, dirs_exist_ok=True)
        if tag:
            _run(root, "git", "fetch", "--quiet", "--no-tags", str(clone), "HEAD")
            _run(root, "git", "merge", "--quiet", "--ff-only", "FETCH_HEAD")
            _run(root, "git", "fetch", "--quiet", str(clone), "tag", f"v{version}")


def _clone(root: Path, folder: Path) -> None:
    _run(root, "git", "clone", "--quiet", "--no-hardlinks", str(root), str(folder))


def _commit(clone: Path, root: Path, version: str) -> None:
    for key in ("user.name", "user.email"):  # a clone has none of this checkout's own settings
        _run(clone, "git", "config", key, _output(root, "git", "config", "--default", "operad", "--get", key))
    for templates in _templates(clone):
        _run(clone, "git", "add", str(templates))
    _run(clone, "git", "commit", "--quiet", "--all", "--message", f"release: {version}")
    _run(clone, "git", "tag", "--annotate", f"v{version}", "--message", f"operad {version}")


def _epoch(root: Path) -> str:
    """Time of the last commit, in seconds: what `SOURCE_DATE_EPOCH` wants."""
    return _output(root, "git", "log", "-1", "--format=%ct")


def _check_checkout(root: Path, version: str, folder: Path) -> None:
    changes = _output(root, "git", "status", "--porcelain")
    if changes:
        raise ReleaseError(f"the checkout has changes; commit or stash them first:\n{changes}")
    now = _version_of(distributions(root)[0])
    try:
        is_later = Version(version) > Version(now)
    except InvalidVersion as error:
        raise ReleaseError(f"{version!r} is no version; expected one such as 0.3.0 (PEP 440)") from error
    if not is_later or str(Version(version)) != version:
        raise ReleaseError(f"version {version} is not a plain one later than {now}, which stands")
    if _output(root, "git", "tag", "--list", f"v{version}"):
        raise ReleaseError(f"there is a tag v{version} already; choose a later version")
    if folder.exists() and any(folder.iterdir()):
        raise ReleaseError(f"{folder} has files in it; remove it, or name another with --to")


def bump(root: Path, version: str, day: date) -> None:
    """Write the new version wherever one stands, and make the changelog's entry of its fragments.

    Distributions require each other within one minor version: `>=0.3,<0.4` from 0.3.0 on. So do the
    packages that `operad new` makes.

    Raises:
        ReleaseError: A file does not say its version in the way that is expected, or towncrier failed.
    """
    before = _version_of(distributions(root)[0])
    ours = rf'("operad(?:-[\w-]+)?(?:\[[\w,-]+\])?){re.escape(_range(before))}(?=")'
    for distribution in distributions(root):
        file = distribution.folder / "pyproject.toml"
        _replace(file, rf'^version = "{re.escape(before)}"$', f'version = "{version}"')
        file.write_text(re.sub(ours, rf"\g<1>{_range(version)}", file.read_text()))
    if _range(version) != _range(before):
        pages = [page for page in (root / _PAGES).glob("*.md") if not page.name.startswith("migrating-to-")]
        templates = [file for each in _templates(root) for file in each.rglob("*") if file.is_file()]
        for file in [*pages, *templates]:
            file.write_text(re.sub(ours, rf"\g<1>{_range(version)}", file.read_text()))
    for path, name in (_DUNDER, _STUBS, _EXPECTED):
        _replace(
            root / path, rf"""^{name} = (["']){re.escape(before)}\1$""", rf"{name} = \g<1>{version}\g<1>"
        )
    _close_changelog(root, version, day)


def _close_changelog(root: Path, version: str, day: date) -> None:
    """Have towncrier make the entry, where nobody has written it by hand."""
    if f"\n## [{version}] - " not in (root / "CHANGELOG.md").read_text():
        options = ("--yes", "--version", version, "--date", day.isoformat())
        _run(root, sys.executable, "-m", "towncrier", "build", *options)
    elif fragments := sorted(file.name for file in root.glob(_CHANGES)):
        found = f"CHANGELOG.md has an entry for {version}, and there are fragments: {', '.join(fragments)}"
        raise ReleaseError(f"{found}; work them in by hand and delete them")


def _templates(root: Path) -> list[Path]:
    """Folders of what `operad new` writes."""
    return [path for each in distributions(root) for path in each.folder.glob(_TEMPLATES)]


def _replace(file: Path, pattern: str, by: str) -> None:
    text, count = re.subn(pattern, by, file.read_text(), flags=re.MULTILINE)
    if count != 1:
        raise ReleaseError(f"{file}: expected one line that matches {pattern}, got {count}; fix the file")
    file.write_text(text)


def _range(version: str) -> str:
    major, minor = Version(version).release[:2]
    return f">={major}.{minor},<{major}.{minor + 1}"


def build(chosen: Sequence[Distribution], version: str, folder: Path, *, epoch: str) -> None:
    """Build a wheel and an sdist of each, with the tools of this environment, and look into the wheels.

    Args:
        epoch: Time of all files in them, in seconds since 1970.

    Raises:
        ReleaseError: What was built is not what is to be released.
    """

    def run(
        cmd: Sequence[str], cwd: str | None = None, extra_environ: Mapping[str, str] | None = None
    ) -> None:
        quiet_subprocess_runner(cmd, cwd, {**(extra_environ or {}), "SOURCE_DATE_EPOCH": epoch})

    folder.mkdir(parents=True)
    for distribution in chosen:
        try:
            builder = ProjectBuilder(distribution.folder, runner=run)
            builder.build("sdist", str(folder))
            wheel = Path(builder.build("wheel", str(folder)))
        except (BuildException, BuildBackendException) as error:
            raise ReleaseError(f"{distribution.name} cannot be built: {error}") from error
        check_wheel(wheel, distribution, version)
        print(f"built {wheel.name}")


def compare(made: Path, again: Path) -> None:
    """Compare the bytes of what two builds made.

    Raises:
        ReleaseError: They differ; it names the files, and inside wheels the members.
    """
    names = sorted({file.name for folder in (made, again) for file in folder.iterdir()})
    _, differing, missing = filecmp.cmpfiles(made, again, names, shallow=False)
    wrong = [*missing]
    for name in differing:
        members = _members(made / name) ^ _members(again / name)
        wrong.append(f"{name} ({', '.join(sorted({member for member, _ in members}))})" if members else name)
    if wrong:
        raise ReleaseError(f"two builds of one commit differ: {'; '.join(wrong)}")
    print(f"{len(names)} files have the same bytes in both builds")


def _members(file: Path) -> set[tuple[str, int]]:
    """Names and checksums of what stands in a wheel; nothing for an sdist."""
    if file.suffix != ".whl":
        return set()
    with ZipFile(file) as archive:
        return {(member.filename, member.CRC) for member in archive.infolist()}


def check_wheel(wheel: Path, distribution: Distribution, version: str) -> None:
    """The wheel has its package, its licence, the version, and requirements that admit that version.

    Raises:
        ReleaseError: It has not.
    """
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        (found,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        metadata = Metadata.from_email(archive.read(found), validate=True)
    wrong = [
        f"it requires {each}" for each in metadata.requires_dist or () if not _admits(each, Version(version))
    ]
    if str(metadata.version) != version:
        wrong.append(f"it says version {metadata.version}")
    if not any(name.startswith(f"{distribution.package}/") for name in names):
        wrong.append(f"it has no package {distribution.package}")
    if not any(name.endswith("/licenses/LICENSE") for name in names):
        wrong.append("it has no LICENSE")
    if wrong:
        raise ReleaseError(f"{wheel.name}: for {version}, {'; '.join(wrong)}")


def _admits(requirement: Requirement, version: Version) -> bool:
    is_ours = requirement.name == "operad" or requirement.name.startswith("operad-")
    return not is_ours or requirement.specifier.contains(version, prereleases=True)


def _version_of(distribution: Distribution) -> str:
    return str(distribution.declared["project"]["version"])


def _chosen(root: Path, only: Sequence[str]) -> list[Distribution]:
    found = distributions(root)
    unknown = set(only) - {each.name for each in found}
    if unknown:
        raise ReleaseError(f"no distribution is called {', '.join(sorted(unknown))}; look at tools.workspace")
    return [each for each in found if not only or each.name in only]


def _output(folder: Path, *command: str) -> str:
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def _run(folder: Path, *command: str) -> None:
    status = subprocess.run(command, cwd=folder, check=False).returncode
    if status:
        raise ReleaseError(f"{shlex.join(command)} ended with status {status}; this checkout is as it was")


def main() -> int:
    """Release, or rehearse it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("version", help="the new version, such as 0.3.0")
    parser.add_argument("--to", type=Path, help="folder for wheels and sdists (build/release/VERSION)")
    parser.add_argument("--only", nargs="+", default=[], help="distributions to build; for rehearsals")
    parser.add_argument(
        "--checks", default=CHECKS, help=f"command to run before building ({CHECKS}); '' for none"
    )
    parser.add_argument("--tag", action="store_true", help="commit and tag here, once all is well")
    parser.add_argument("--twice", action="store_true", help="build in two clones, and compare the bytes")
    parser.add_argument("--root", type=Path, default=ROOT, help="checkout to release")
    words = parser.parse_args()
    root: Path = words.root.resolve()
    folder: Path = (words.to or root / "build" / "release" / words.version).resolve()
    if words.tag and words.only:
        parser.error("--only is for rehearsals: a tag is of all distributions")
    try:
        release(
            root,
            words.version,
            folder,
            checks=words.checks,
            only=words.only,
            tag=words.tag,
            twice=words.twice,
        )
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    print(f"{words.version} stands in {folder}" + (f", and as the tag v{words.version}" if words.tag else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
