"""Why a consumer cannot be opened, said so that its owner can act."""

from __future__ import annotations

from builtins import BaseException, Exception, getattr, isinstance, str, type

LONGEST = 500


class StartError(Exception):
    """A consumer that cannot be opened: what was tried, what was seen, the next step."""

    def __init__(self, tried: str, seen: str, hint: str = "") -> None:
        super().__init__(seen)
        self.tried, self.seen, self.hint = tried, seen, hint


class Ended(BaseException):
    """The consumer's program is gone, and with it the strings that it had: its one argument says how it ended."""


class Broken(BaseException):
    """The consumer does not keep to its protocol: whatever else it answers is no decoding either.

    `what` says what that comes to.
    """

    def __init__(
        self, tried: str, seen: str, hint: str, what: str = "its program does not keep to the protocol"
    ) -> None:
        super().__init__(seen)
        self.tried, self.seen, self.hint, self.what = tried, seen, hint, what


def describe(error: BaseException) -> str:
    """Give type and text of an error; its own methods may misbehave."""
    if type(error) is Ended:
        return str(error)[:LONGEST]
    name = type(error).__name__
    try:
        text = "".join((str(error),))[:LONGEST]
    except BaseException:  # noqa: BLE001 - a hostile __str__ may raise anything
        text = "(its text cannot be read)"
    return name + ": " + text if text else name


def as_start_error(error: BaseException) -> StartError:
    """Give any error of a start its three parts."""
    if isinstance(error, StartError):
        return error
    tried = getattr(error, "tried", "open the consumer")
    return StartError(str(tried), str(getattr(error, "seen", describe(error))), str(getattr(error, "hint", "")))


def nearest(name: str, known: "list[str]") -> str:
    """Give a hint with the nearest right names, or those there are."""
    import difflib

    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(repr(match) for match in close) + "?"
    shown = ", ".join(sorted(known)[:12])
    return "there are: " + shown if shown else ""
