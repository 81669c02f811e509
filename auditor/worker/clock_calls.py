"""The calls of built-in functions that would read the wall clock, from Python code: candidates, no proof.

A reader in compiled code is not seen. Where Python cannot tell the arguments (before 3.12), ``time.localtime(x)`` looks
like ``time.localtime()``.
"""

from __future__ import annotations

import sys
import threading
import time
from builtins import isinstance, issubclass, len, type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any, Callable

TOOL = 4

#: Functions that read the clock, and those that read it where their first argument is missing or None.
ALWAYS = {time.time, time.time_ns, time.clock_gettime, time.clock_gettime_ns, time.strftime, time.asctime}
WITHOUT_ARGUMENT = {time.localtime, time.gmtime, time.ctime}
CLASS_METHODS = ("now", "today", "utcnow")

BUILT_IN: Any = type(len)

frame_at = sys._getframe


def reads_clock(function: Any) -> bool:
    """Say whether a built-in function reads the wall clock when it is called without arguments."""
    if type(function) is not BUILT_IN:
        return False
    if function in ALWAYS or function in WITHOUT_ARGUMENT:
        return True
    owner = function.__self__
    return isinstance(owner, type) and function.__name__ in CLASS_METHODS and is_date(owner)


def is_date(owner: Any) -> bool:
    """Say whether a class is a date or a datetime, without importing them."""
    module = sys.modules.get("datetime")
    return module is not None and issubclass(owner, module.date)


def watch(tell: Callable[[FrameType], None]) -> str:
    """Tell of the frame of each such call, on every thread from now on; the reason where that is not possible."""
    if hasattr(sys, "monitoring"):
        return watch_events(tell, sys.monitoring)

    def profile(frame: FrameType, event: str, function: Any) -> None:
        if event == "c_call" and reads_clock(function):
            tell(frame)

    threading.setprofile(profile)
    sys.setprofile(profile)
    return ""


def watch_events(tell: Callable[[FrameType], None], monitoring: Any) -> str:
    """Watch with the events of Python 3.12 and newer, which tell the first argument."""
    missing = monitoring.MISSING

    def called(code: CodeType, offset: int, function: Any, first: Any) -> None:
        if reads_clock(function) and (first is missing or first is None or function not in WITHOUT_ARGUMENT):
            tell(frame_at(1))

    try:
        monitoring.use_tool_id(TOOL, "auditor")
    except ValueError as error:
        return "another tool watches the calls: %s" % error
    monitoring.register_callback(TOOL, monitoring.events.CALL, called)
    monitoring.set_events(TOOL, monitoring.events.CALL)
    return ""
