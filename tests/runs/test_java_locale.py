"""A number that Java reads in the locale of the machine is another number on another machine."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import auditor

KIT = Path(__file__).resolve().parents[2] / "consumers" / "protocol" / "Consumer.java"

PROGRAM = """
import java.text.NumberFormat;
import java.util.Locale;
import java.util.Map;

public class Amounts {
    public static void main(String[] arguments) throws Exception {
        Consumer.serve("1", Map.of(
            "by_default", text -> NumberFormat.getInstance().parse(text),
            "by_name", text -> NumberFormat.getInstance(Locale.US).parse(text)));
    }
}
"""


@pytest.mark.skipif(shutil.which("javac") is None, reason="no javac on PATH: apt-get install openjdk-17-jdk-headless")
def test_the_default_number_format_depends_on_the_locale_and_a_named_one_does_not(tmp_path: Path) -> None:
    (tmp_path / "Amounts.java").write_text(PROGRAM)
    subprocess.run(["javac", "-d", str(tmp_path), str(KIT), str(tmp_path / "Amounts.java")], check=True)
    fields = ("by_default", "by_name")
    rows = [f"1,{field},1.234,7" for field in fields]
    (tmp_path / "records.csv").write_text("\n".join(["case_id,field,prediction,reference", *rows]))
    run = auditor.run(
        {
            "name": "amounts",
            "cases": {"predictions": str(tmp_path / "records.csv"), "references": str(tmp_path / "records.csv")},
            "fields": {field: {"type": "decimal"} for field in fields},
            "consumers": {
                "erp": {
                    "adapter": "process",
                    "root": str(tmp_path),
                    "command": ["java", "-cp", ".", "Amounts"],
                    "reads": list(fields),
                    "timeout": "10 s",
                }
            },
        },
        store=False,
        probe="quick",
    )
    found = [one for one in run.findings if one.code.endswith("-dependent") or one.code == "unstable"]
    assert [(one.code, one.field) for one in found] == [("locale-dependent", "by_default")]
    assert {json.loads(one.raw) for one in found[0].witnesses} == {"1.234"}
    # The point is a mark of groups in Germany, and of decimals in the United States.
    assert "1.234" in found[0].title and "1234" in found[0].title
