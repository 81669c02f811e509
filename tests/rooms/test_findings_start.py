"""What importing the findings costs: nothing that only some audits need."""

from __future__ import annotations

import subprocess
import sys


def test_findings_load_neither_babel_nor_dateutil():
    code = "import sys, auditor.findings; print(*sorted({'babel', 'dateutil'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
