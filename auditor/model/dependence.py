"""Where a consumer reads the clock, and how a session is asked to watch it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Site:
    """A place in the consumer or its libraries that reads the wall clock; `reads` counts how often.

    `file`, `line` and `function` are of the nearest Python frame outside the standard library, also where the reader
    is compiled code. Where there is no such frame, `file` is the compiled library, `line` is 0 and `function` is
    empty. `at_import` says that it was read while a module was imported: the value then stays for the whole process.
    `proven` says that a run in which this place alone saw another instant gave another value.
    """

    file: str
    line: int
    function: str
    at_import: bool
    reads: int = 0
    proven: bool = False


@dataclass(frozen=True)
class Watch:
    """What to do about the consumer's clock reads: record them, or let those of one `site` see `clock` (ISO).

    All others see the environment's clock.
    """

    site: Site | None = None
    clock: str | None = None

    def __post_init__(self) -> None:
        if (self.site is None) is not (self.clock is None):
            raise ValueError("a watch has a site and a clock, or neither")
