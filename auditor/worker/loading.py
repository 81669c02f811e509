"""Finds ``module:name`` under the consumer's import root, and says what is there when it is not found."""

from __future__ import annotations

import os
import sys

from .trouble import StartError, describe, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, List, Optional


def add_root(root: str) -> None:
    """Put the import root first; it belongs to this process alone."""
    sys.path.insert(0, root)


def modules_in(folder: str) -> List[str]:
    """List what can be imported from a folder."""
    try:
        entries = sorted(os.listdir(folder))
    except OSError:
        return []
    names = [entry[:-3] for entry in entries if entry.endswith(".py") and entry != "__init__.py"]
    return names + [entry for entry in entries if entry.isidentifier() and os.path.isdir(os.path.join(folder, entry))]


def load(target: str, root: str, is_meant: Optional[Callable[[Any], bool]] = None) -> Any:
    """Import the object that ``module:name`` names; dots in the name go into attributes.

    `is_meant` tells the objects of the module that could be meant where there is none of the name.
    """
    name, colon, path = target.partition(":")
    if not colon or not name or not path:
        raise StartError("load " + target, "%r is not of the form module:name" % target, "write module:function")
    module = import_module(name, target, root)
    found = module
    for part in path.split("."):
        if not hasattr(found, part):
            raise missing_name(target, found, part, name, is_meant)
        found = getattr(found, part)
    return found


def import_module(name: str, target: str, root: str) -> Any:
    """Import a module, and tell one that is not there from one that fails while it is imported."""
    tried = "import %s for %s, from %s with %s" % (name, target, root, sys.executable)
    try:
        __import__(name)
    except BaseException as error:  # an import may raise anything, sys.exit too
        raise StartError(tried, seen_on_import(error), hint_on_import(error, name, root)) from error
    return sys.modules[name]


def seen_on_import(error: BaseException) -> str:
    """Give the error and the last line of the consumer's own code that it passed."""
    last = ""
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith("<frozen") and os.path.dirname(file) != os.path.dirname(__file__):
            last = " (%s:%d)" % (file, trace.tb_lineno)
        trace = trace.tb_next
    return describe(error) + last


def hint_on_import(error: BaseException, name: str, root: str) -> str:
    """Say what to do about a failed import."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        parent = os.path.join(root, *error.name.split(".")[:-1])
        if name == error.name or name.startswith(error.name + "."):
            return nearest(error.name.split(".")[-1], modules_in(parent)) or "set `root` to the folder that holds it"
        return "install %s for this interpreter, or set `interpreter` to the one that has it" % error.name
    if isinstance(error, SystemExit):
        return 'the module exits while it is imported; guard it with `if __name__ == "__main__"`'
    return "the module must be importable on its own"


def missing_name(
    target: str, owner: Any, part: str, module: str, is_meant: Optional[Callable[[Any], bool]] = None
) -> StartError:
    """Name the nearest right names in a module."""
    known = [name for name in dir(owner) if not name.startswith("_")]
    if is_meant is not None:
        known = [name for name in known if is_meant(getattr(owner, name, None))]
    file = getattr(sys.modules[module], "__file__", None) or "a built-in module"
    return StartError("load " + target, "%s has no %r" % (file, part), nearest(part, known))
