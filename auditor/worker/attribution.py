"""Which lines of the consumer read the wall clock, and the instant that each of them sees.

With the preloaded clock (`clockshim.c`) every read is told of as it happens, whoever made it: the Python stack names
the line. Without it only the calls that would read a clock can be told of (`clock_calls.py`), and no answer changed.
"""

from __future__ import annotations

import os
import sys
from builtins import BaseException, any, bool, id, int, len, list, str

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any, Dict, List, Optional, Tuple

    #: File, line, function, and whether a module was being imported.
    Line = Tuple[str, int, str, bool]

HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
STANDARD = os.path.dirname(os.__file__) + os.sep
INSTALLED = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
MOST_KNOWN = 10000

#: The function of a read that no Python thread made.
OWN_THREAD = "(a thread of its own)"

frame_at = sys._getframe


def is_consumers(file: str) -> bool:
    """Say whether a code's file is the consumer's or a library's: neither ours, nor of Python itself, nor no file."""
    if file.startswith(("<", HERE)):
        return False
    return not file.startswith(STANDARD) or any(part in file for part in INSTALLED)


class Sites:
    """The reads so far, by the line that made them; `opening` while the consumer is being imported."""

    def __init__(self) -> None:
        self.opening = True
        self.reads: Dict[Line, int] = {}
        self.told: Dict[Line, int] = {}
        self._consumers: Dict[str, bool] = {}
        self._lines: Dict[Tuple[int, int], Tuple[CodeType, str, int, str]] = {}

    def line_of(self, frame: Optional[FrameType]) -> Optional[Line]:
        """Name the nearest line of the consumer or its libraries on a stack."""
        chosen, at_import = None, self.opening
        while frame is not None:
            code = frame.f_code
            file = code.co_filename
            known = self._consumers.get(file)
            if known is None:
                known = self._consumers[file] = is_consumers(file)
            if known and chosen is None:
                chosen = frame
                if at_import:
                    break
            if code.co_name == "<module>" and file[:1] != "<" and not file.startswith(HERE):
                at_import = True
                if chosen is not None:
                    break
            frame = frame.f_back
        return None if chosen is None else (*self._line(chosen), at_import)

    def _line(self, frame: FrameType) -> Tuple[str, int, str]:
        """Look a frame's line up once per instruction."""
        code = frame.f_code
        key = id(code), frame.f_lasti
        known = self._lines.get(key)
        if known is None:
            if len(self._lines) > MOST_KNOWN:
                self._lines.clear()
            # The code is kept, so that no other one can have its id.
            known = self._lines[key] = (code, code.co_filename, frame.f_lineno, code.co_name)
        return known[1:]

    def add_nearest(self, frame: FrameType) -> None:
        """Count a read that a frame made by its line."""
        line = self.line_of(frame)
        if line is not None:
            self.add(line)

    def add(self, line: Line) -> None:
        """Count a read."""
        self.reads[line] = self.reads.get(line, 0) + 1

    def count(self, line: Line, reads: int) -> None:
        """Take up a count that was kept elsewhere."""
        self.reads[line] = reads

    def news(self) -> List[List[Any]]:
        """Give what was read since the last time: [file, line, function, at import, reads] of each line."""
        found = []
        for line, reads in list(self.reads.items()):
            more = reads - self.told.get(line, 0)
            if more:
                self.told[line] = reads
                found.append([*line, more])
        return found


class Selector:
    """Answers the preloaded clock: the reads of one line see `other`, all others see `base` (nanoseconds)."""

    def __init__(self, sites: Sites, base: int, site: Optional[Line], other: int) -> None:
        self.sites, self.base, self.site, self.other = sites, base, site, other
        self.shim: Any = None
        self.callback: Any = None  # held as long as the library may call it

    def install(self) -> str:
        """Let the preloaded clock ask; the reason where it cannot, else nothing."""
        try:
            import ctypes

            library = ctypes.CDLL(None)
            choose = library.auditor_clock_choose
        except (ImportError, AttributeError, OSError, TypeError) as error:
            return "the preloaded clock is not in this process: %s" % error
        library.auditor_clock_library_of.restype = ctypes.c_char_p
        library.auditor_clock_library_of.argtypes = [ctypes.c_void_p]
        library.auditor_clock_library.restype = ctypes.c_char_p
        self.shim, self.count = library, ctypes.c_longlong()
        if self.site is not None and self.site[2] == OWN_THREAD:
            library.auditor_clock_tell_library(os.fsencode(self.site[0]), ctypes.c_longlong(self.other))
        self.by_reference = ctypes.byref(self.count)
        self.callback = ctypes.CFUNCTYPE(ctypes.c_longlong, ctypes.c_void_p)(self.select)
        return "" if choose(self.callback) else "this interpreter does not export its C functions"

    def select(self, caller: int) -> int:
        """Give the instant for one read."""
        try:
            sites = self.sites
            line = sites.line_of(frame_at(1))
            if line is None:
                line = (os.fsdecode(self.shim.auditor_clock_library_of(caller)), 0, "", sites.opening)
            sites.add(line)
            return self.other if line == self.site else self.base
        except BaseException:  # noqa: BLE001 - there is nobody above to raise it to
            return self.base

    def news(self) -> List[List[Any]]:
        """Give what was read since the last time, also on threads that Python does not know."""
        index = 0
        while True:
            file = self.shim.auditor_clock_library(index, self.by_reference)
            if file is None:
                return self.sites.news()
            self.sites.count((os.fsdecode(file), 0, OWN_THREAD, False), self.count.value)
            index += 1


class Observer:
    """Tells of the calls that would read a clock."""

    def __init__(self, sites: Sites) -> None:
        self.sites = sites
        self.news = sites.news

    def install(self) -> str:
        """Watch calls from now on."""
        from . import clock_calls

        return clock_calls.watch(self.sites.add_nearest)


class Attribution:
    """What the parent asked to watch. `by` is how it is done: ``reads``, ``calls``, or nothing, and why not."""

    def __init__(self, config: Dict[str, Any]) -> None:
        self.sites = Sites()
        self.by, self.trouble = config["by"], ""
        site = config["site"]
        line = None if site is None else (str(site[0]), int(site[1]), str(site[2]), bool(site[3]))
        if self.by == "reads":
            self.watcher: Any = Selector(self.sites, config["base"], line, config["other"])
        else:
            self.watcher = Observer(self.sites)

    def start(self) -> None:
        """Watch from now on: the consumer is imported next."""
        self.trouble = self.watcher.install()
        if self.trouble:
            self.by = ""

    def opened(self) -> None:
        """The consumer has been imported."""
        self.sites.opening = False

    def news(self) -> List[List[Any]]:
        """Give what was read since the last time."""
        return [] if self.trouble else self.watcher.news()
