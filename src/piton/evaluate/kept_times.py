"""Times that a refresh of baselines has measured so far: lines beside the file it will write, so that stopping it loses one case at most."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from pydantic import TypeAdapter

from piton.core.measurement import Measurement
from piton.evaluate.kept import Kept
from piton.evaluate.line_file import DamagedLineError, Kind, Record

SUFFIX = ".part"
_HEAD: Record = {"piton_times": 1}
_TIME: TypeAdapter[Measurement] = TypeAdapter(Measurement)
_ANEW = "remove this file and measure anew"


class KeptTimes(Kept[Measurement]):
    """One file of lines, each a time by the key of everything that decides it; lines of another key are other people's and stay unused."""

    def __init__(self, path: Path) -> None:
        """Open `path`, an existing file or a new one. Raises UsageError when another refresh is writing to it, DamagedLineError."""
        self._path = path
        super().__init__(path, Kind(_HEAD, _check, anew=_ANEW, again="give the same command again"), "time", _TIME)

    def remove(self) -> None:
        """Drop the file: what it kept has gone into another one."""
        self._path.unlink(missing_ok=True)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        super().__exit__(kind, error, trace)
        if not self.count:
            self.remove()


def _check(path: Path, found: Record) -> None:
    if found != _HEAD:
        raise DamagedLineError("this file holds no times of baselines", where=f"{path}:1", action=_ANEW)
