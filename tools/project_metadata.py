"""Write what all distributions say alike into their `pyproject.toml`: classifiers, links, a keyword.

`--check` changes nothing and fails where a file is not what would be written. Keywords that a file has stay.
"""

from __future__ import annotations

import re
import sys
from typing import Final

from tools.generated import keep_current, parser_of
from tools.workspace import Distribution, distributions

REPOSITORY: Final = "https://github.com/operad-project/operad"
URLS: Final = {
    "Homepage": REPOSITORY,
    "Documentation": f"{REPOSITORY}/blob/main/docs/index.md",
    "Source": REPOSITORY,
    "Changelog": f"{REPOSITORY}/blob/main/CHANGELOG.md",
}
PYTHONS: Final = ("3.11", "3.12", "3.13")
"""Those under which both suites were run, as docs/platforms.md says."""
CLASSIFIERS: Final = (
    "Development Status :: 3 - Alpha",
    "Intended Audience :: Developers",
    "Intended Audience :: Science/Research",
    "Operating System :: POSIX :: Linux",
    *(f"Programming Language :: Python :: {version}" for version in PYTHONS),
    "Topic :: Scientific/Engineering :: Artificial Intelligence",
    "Typing :: Typed",
)

_URLS: Final = re.compile(r"\[project\.urls\]\n(?:[^\n\[]+\n)*\n")
_CLASSIFIERS: Final = re.compile(r"^classifiers = \[\n(?:    .*\n)*\]\n", re.MULTILINE)
_AFTER_PROJECT: Final = re.compile(r"^\[(?!build-system\]|project\])", re.MULTILINE)


def written(distribution: Distribution) -> str:
    """Text of its `pyproject.toml` with the common metadata."""
    text = (distribution.folder / "pyproject.toml").read_text()
    classifiers = "".join(f'    "{line}",\n' for line in CLASSIFIERS)
    text = _CLASSIFIERS.sub(f"classifiers = [\n{classifiers}]\n", text)
    if "keywords" not in distribution.declared["project"]:
        topic = distribution.name.partition("-")[2]
        words = ", ".join(f'"{word}"' for word in ("deep-learning", "mxnet", topic) if word)
        text = text.replace("\nclassifiers = [", f"\nkeywords = [{words}]\nclassifiers = [", 1)
    table = "".join(f'{name} = "{url}"\n' for name, url in URLS.items())
    text = _URLS.sub("", text)
    return _AFTER_PROJECT.sub(f"[project.urls]\n{table}\n[", text, count=1)


def main() -> int:
    """Write the metadata, or with `--check` say whether it is current."""
    arguments = parser_of(main.__doc__, "a file").parse_args()
    stale = 0
    for distribution in distributions(arguments.root.resolve()):
        file = distribution.folder / "pyproject.toml"
        words = f"{file} is stale; run `make format`"
        stale |= keep_current(file, written(distribution), words, is_check=arguments.check)
    return stale


if __name__ == "__main__":
    sys.exit(main())
