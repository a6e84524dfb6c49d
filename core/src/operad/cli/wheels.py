"""Contents of wheels, read without unpacking or importing them: a wheel may be a stranger's."""

from __future__ import annotations

import hashlib
import lzma
import zipfile
from collections.abc import Iterator
from configparser import ConfigParser
from configparser import Error as IniError
from contextlib import contextmanager
from email.message import Message
from email.parser import Parser
from pathlib import Path
from typing import Final, final

from operad.errors import FormatError, OperadError
from operad.files import check_file, translated

REPORT: Final = "operad-check.json"
"""Report of the checks in a wheel's `.dist-info`."""
_MOST_TEXT_BYTES: Final = 8 << 20
_MOST_BYTES: Final = 2 << 30
_BLOCK_BYTES: Final = 1 << 20


@final
class _EntryPoints(ConfigParser):
    def optionxform(self, optionstr: str) -> str:
        """Names keep their case."""
        return optionstr


@final
class Wheel:
    """An open wheel.

    Attributes:
        path: The file.
        info: Its folder `NAME-VERSION.dist-info`.
        metadata: Its core metadata.
        entry_points: Values of its entry points by group and name.
    """

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self.path = path
        self._archive = archive
        infos = {name.partition("/")[0] for name in archive.namelist() if ".dist-info/" in name}
        if len(infos) != 1:
            raise FormatError(f"{path.name}: expected one folder NAME-VERSION.dist-info, found {len(infos)}")
        (self.info,) = infos
        self.metadata: Message = Parser().parsestr(self.text(f"{self.info}/METADATA"))
        self.entry_points = self._entry_points()

    def __contains__(self, name: str) -> bool:
        return name in self._archive.NameToInfo

    def text(self, name: str) -> str:
        """Text of a file of the wheel.

        Raises:
            FormatError: It is not there, too large, or no UTF-8.
        """
        if name not in self:
            raise FormatError(f"{self.path.name}: there is no {name}")
        if (size := self._archive.getinfo(name).file_size) > _MOST_TEXT_BYTES:
            raise FormatError(f"{self.path.name}: {name} has {size} bytes, of at most {_MOST_TEXT_BYTES}")
        try:
            return self._archive.read(name).decode()
        except UnicodeDecodeError as error:
            raise FormatError(f"{self.path.name}: {name} is not UTF-8: {error}") from error

    def digest(self) -> str:
        """SHA-256 of names and contents, less RECORD and the report, whose place it is to name it.

        Raises:
            FormatError: The files take more than 2 GiB.
        """
        own = (f"{self.info}/RECORD", f"{self.info}/{REPORT}")
        whole = hashlib.sha256()
        left = _MOST_BYTES
        for name in sorted(set(self._archive.namelist()) - {*own}):
            one = hashlib.sha256()
            with self._archive.open(name) as file:
                while block := file.read(_BLOCK_BYTES):
                    one.update(block)
                    left -= len(block)
                    if left < 0:
                        raise FormatError(f"{self.path.name}: its files take more than {_MOST_BYTES} bytes")
            whole.update(f"{name}\0{one.hexdigest()}\n".encode())
        return whole.hexdigest()

    def _entry_points(self) -> dict[str, dict[str, str]]:
        name = f"{self.info}/entry_points.txt"
        if name not in self:
            return {}
        parser = _EntryPoints(delimiters=("=",), interpolation=None, strict=False)
        try:
            parser.read_string(self.text(name))
        except IniError as error:
            raise FormatError(f"{self.path.name}: {name} cannot be read: {error}") from error
        return {group: dict(parser.items(group)) for group in parser.sections()}


@contextmanager
def open_wheel(path: Path) -> Iterator[Wheel]:
    """Open a wheel.

    Raises:
        FormatError: It is none, or damaged; also inside `with`, while it is read.
    """
    check_file(path, what := f"wheel {path.name}")
    try:
        with translated(what, "a wheel as it was built"), zipfile.ZipFile(path) as archive:
            yield Wheel(path, archive)
    except OperadError:
        raise
    except (zipfile.BadZipFile, lzma.LZMAError, RuntimeError) as error:  # the last: it is encrypted
        raise FormatError(f"{what}: expected an unmodified wheel, got {error}") from error
