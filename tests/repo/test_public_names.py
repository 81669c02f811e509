"""The library's public names: few, documented, and not hidden by rooms of the same name."""

import subprocess
import sys

import pytest

import auditor

NAMES = [name for name in auditor.__all__ if name != "__version__"]


def test_there_are_at_most_twenty() -> None:
    assert len(auditor.__all__) <= 20


def test_all_of_them_are_listed_for_type_checkers_too() -> None:
    source = (auditor.__file__ or "") and open(auditor.__file__, encoding="utf-8").read()  # noqa: SIM115
    under_type_checking = source.split("if TYPE_CHECKING:")[1].split("__all__")[0]
    assert [name for name in NAMES if name not in under_type_checking] == []


@pytest.mark.parametrize("name", NAMES)
def test_each_has_a_docstring_with_an_example(name: str) -> None:
    assert ">>> " in (getattr(auditor, name).__doc__ or "")


SAYS = "print(type(auditor.load).__name__, auditor.load.__module__, auditor.load.__name__)"
THE_FUNCTION = "function auditor.api load"


@pytest.mark.parametrize(
    "before",
    [
        "import auditor",
        "import auditor, auditor.load",
        "import auditor, auditor.load.cases",
        "import auditor; from auditor.load import cases; assert cases.__name__ == 'auditor.load.cases'",
        "import auditor; from auditor.load.cases import load; assert load is not auditor.load",
        "import auditor, importlib; importlib.reload(importlib.import_module('auditor.load'))",
        "import auditor, importlib, auditor.load; importlib.reload(auditor)",
        "import auditor, pickle; assert pickle.loads(pickle.dumps(auditor.load)) is auditor.load; import auditor.load",
        "import auditor; from auditor import *; assert load is auditor.load",
        "import auditor, auditor.load as by_attribute; assert by_attribute is auditor.load",
        "import auditor, sys, auditor.load; assert sys.modules['auditor.load'].cases.load",
    ],
)
def test_a_room_does_not_hide_a_function_of_the_same_name(before: str) -> None:
    done = subprocess.run([sys.executable, "-c", f"{before}\n{SAYS}"], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == (THE_FUNCTION, "")
