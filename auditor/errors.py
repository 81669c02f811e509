"""Why the audit itself could not be done.

A bug of the pipeline is a finding (``auditor.model.run.Finding``) and is never raised; an error here means that no
faithful score exists. Each says what, where, what was seen, the likely cause and the next step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: Mistakes of a spec that its message lists; `SpecError.mistakes` has all of them.
MOST_SHOWN = 200


class AuditorError(Exception):
    """The audit could not be done; the command line prints the message and exits with `exit_code`.

    >>> issubclass(SpecError, AuditorError), AuditorError.exit_code
    (True, 2)
    """

    exit_code = 2


@dataclass(frozen=True)
class Mistake:
    """One thing to correct: `where` is a file with a key, line or row; `hint` is the next step, or empty."""

    where: str
    what: str
    hint: str = ""

    def __str__(self) -> str:
        """Give the mistake as one or two lines."""
        line = f"{self.where}: {self.what}"
        return f"{line}\n    {self.hint}" if self.hint else line


class SpecError(AuditorError):
    """The spec has mistakes; all of them are listed at once.

    >>> print(SpecError([Mistake("audit.toml:3: cases.di", "there is no such key", "did you mean id?")]))
    1 mistake in the spec:
      audit.toml:3: cases.di: there is no such key
        did you mean id?
    """

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        count = len(self.mistakes)
        head = f"{count} mistake{'s' if count != 1 else ''} in the spec:"
        rest = [f"  and {count - MOST_SHOWN} more"] if count > MOST_SHOWN else []
        super().__init__("\n".join([head, *(f"  {mistake}" for mistake in self.mistakes[:MOST_SHOWN]), *rest]))


class NoSpecError(SpecError):
    """There is no spec to read: the file is not there, or cannot be read.

    >>> print(NoSpecError(Mistake("nowhere.toml", "there is no such file or folder", "`auditor init` writes one")))
    nowhere.toml: there is no such file or folder
        `auditor init` writes one
    """

    def __init__(self, mistake: Mistake) -> None:
        super().__init__([mistake])
        self.args = (str(mistake),)


class LoadError(AuditorError):
    """Predictions or references could not be read whole; `mistakes` name file, line or row, and column.

    >>> print(LoadError([Mistake("references.csv:7", "the id c-04 is there twice, first in line 3")]))
    references.csv:7: the id c-04 is there twice, first in line 3
    """

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(str(mistake) for mistake in self.mistakes))


class ConsumerError(AuditorError):
    """A consumer cannot be audited: mostly, its interpreter, import, function, model or engine is not there.

    `what` says what it comes to, where it is not the start that failed.

    >>> print(ConsumerError("billing", "import ingest", "ModuleNotFoundError: No module named 'ingest'"))
    consumer billing: could not be started
      tried: import ingest
      seen:  ModuleNotFoundError: No module named 'ingest'
    """

    def __init__(
        self, consumer: str, tried: str, seen: str, hint: str = "", *, what: str = "could not be started"
    ) -> None:
        self.consumer, self.tried, self.seen, self.hint = consumer, tried, seen, hint
        lines = [f"consumer {consumer}: {what}", f"  tried: {tried}", f"  seen:  {seen}"]
        super().__init__("\n".join([*lines, f"  next:  {hint}"] if hint else lines))


class ConsumerErrors(AuditorError):
    """Several consumers could not be started: each says why, all at once.

    >>> first, second = ConsumerError("billing", "import a", "no a"), ConsumerError("api", "import b", "no b")
    >>> print(ConsumerErrors([first, second]))
    2 consumers could not be started:
    consumer billing: could not be started
      tried: import a
      seen:  no a
    consumer api: could not be started
      tried: import b
      seen:  no b
    """

    def __init__(self, errors: Sequence[ConsumerError]) -> None:
        self.errors = tuple(errors)
        super().__init__("\n".join([f"{len(self.errors)} consumers could not be started:", *map(str, self.errors)]))


class StoreError(AuditorError):
    """A run could not be written or read; nothing half-written is left behind.

    >>> str(StoreError("run.json: no readable run"))
    'run.json: no readable run'
    """


class Refused(AuditorError):
    """Two things that must not be compared: what a lock froze with what is there now, or runs of different cases.

    >>> Refused("the manifests differ").exit_code
    4
    """

    exit_code = 4


class InternalError(AuditorError):
    """A sum that must hold does not: a bug of the auditor, reported instead of a score."""
