"""Score extracted fields once per downstream consumer, with each consumer's own parser, and audit the parsers.

Four verbs: `run` audits a spec, `load` gives a stored run, `read` shows one string through every consumer, `freeze`
writes down what a run is bound to. A run has `drift`, which compares it with another, and `redecode`. They give the
same frozen objects that the commands print. Everything is imported on first use, so `import auditor` costs nothing.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from auditor.version import VERSION as __version__  # noqa: F401

if TYPE_CHECKING:
    from auditor.api import AuditedRun, freeze, load, read, run
    from auditor.errors import AuditorError, ConsumerError, LoadError, SpecError, StoreError, UnsupportedField
    from auditor.model.decoding import Decoding
    from auditor.model.reading import Reading
    from auditor.model.run import Column, Finding, Interval, Run, Witness
    from auditor.spec.models import AuditSpec
    from auditor.spec.read import read_spec

__all__ = [
    "AuditSpec",
    "AuditedRun",
    "AuditorError",
    "Column",
    "ConsumerError",
    "Decoding",
    "Finding",
    "Interval",
    "LoadError",
    "Reading",
    "Run",
    "SpecError",
    "StoreError",
    "UnsupportedField",
    "Witness",
    "freeze",
    "load",
    "read",
    "read_spec",
    "run",
]

_HOME = {
    "AuditedRun": "auditor.api",
    "AuditSpec": "auditor.spec.models",
    "AuditorError": "auditor.errors",
    "Column": "auditor.model.run",
    "ConsumerError": "auditor.errors",
    "Decoding": "auditor.model.decoding",
    "Finding": "auditor.model.run",
    "Interval": "auditor.model.run",
    "LoadError": "auditor.errors",
    "Reading": "auditor.audit.reading",
    "Run": "auditor.model.run",
    "SpecError": "auditor.errors",
    "StoreError": "auditor.errors",
    "UnsupportedField": "auditor.errors",
    "Witness": "auditor.model.run",
    "freeze": "auditor.api",
    "load": "auditor.api",
    "read": "auditor.api",
    "read_spec": "auditor.spec.read",
    "run": "auditor.api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'auditor' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Public(ModuleType):
    """The package, in which `load` is the public function although a room has the same name.

    The room is still imported as ever: ``from auditor.load import cases`` and ``from auditor.load.cases import load``
    look for it among the modules. Whatever goes by attributes finds the function instead, ``import auditor.load as x``
    and a patch of ``"auditor.load.cases"`` too.
    """

    def __setattr__(self, name: str, value: object) -> None:
        # The import system binds a room to its name here as soon as it is imported.
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Public
