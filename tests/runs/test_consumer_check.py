"""`auditor consumer check`: each habit that is no part of the protocol is found in its case; a good program passes."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from auditor.cli.main import main
from auditor.decode.conformance import check_program
from auditor.errors import ConsumerError
from auditor.spec.models import AuditSpec, CasesSpec, ConsumerSpec, FieldSpec
from tests.command_line import call

PROGRAMS = Path(__file__).resolve().parents[1] / "programs"


def described(command: tuple[str, ...], **others: object) -> tuple[AuditSpec, ConsumerSpec]:
    """Give a spec whose one consumer is a program that reads f."""
    settings = {"adapter": "process", "command": command, "reads": {"f": "f"}, "memory": 2 * 1024**3} | others
    consumer = ConsumerSpec(name="subject", **settings)
    fields = {"f": FieldSpec(name="f", type="identifier")}
    cases = CasesSpec(predictions=(), references=())
    spec = AuditSpec(
        name="t", file=PROGRAMS / "a", folder=PROGRAMS, cases=cases, fields=fields, consumers={"subject": consumer}
    )
    return spec, consumer


def wrong(habit: str) -> dict[str, str]:
    """Give what is wrong with the stubborn program by case."""
    found = check_program(*described((sys.executable, "stubborn.py", habit)))
    assert found.ok is (not any(check.seen for check in found.checks))
    return {check.case: check.seen for check in found.checks if check.seen}


def test_a_program_that_keeps_to_the_protocol_passes() -> None:
    assert wrong("") == {}
    assert wrong("tells") == {}


@pytest.mark.skipif(shutil.which("perl") is None, reason="no perl on PATH: apt-get install perl")
def test_a_program_written_after_the_page_alone_passes_and_decodes() -> None:
    spec, consumer = described(("perl", "reads.pl"), reads={"f": "effective_date"})
    assert check_program(spec, consumer).ok


@pytest.mark.parametrize(
    ("habit", "case", "says"),
    [
        ("banner", "start line", "'Starting up'"),
        ("no version", "start line", 'it has no "version"'),
        ("dies at once", "start line", "it ended: exit code 7"),
        ("few", "many values", "4999 answers for 5000 values"),
        ("swapped", "many values", "is read as"),
        ("skips empty", "nothing and empty", "0 answers for 1 values"),
        ("object", "one value", "neither a value nor why there is none"),
        ("wrong id", "one value", 'the answer to "id": '),
        ("state", "many values", "is read as 'state', and alone as"),
        ("short memory", "ten megabytes", "it ended: exit code 5"),
        ("naive", "escapes and order", "with its characters escaped is read as"),
        ("strict keys", "unknown key", "it ended: exit code 6"),
        ("unknown ends", "unknown field", "it ended: exit code 1"),
        ("any field", "unknown field", 'no "error" in the answer'),
        ("does not stop", "stop", "it still runs"),
        ("ends with 1", "stop", "it ended: exit code 1"),
        ("outlives stdin", "end of stdin", "it still runs"),
    ],
)
def test_a_habit_is_found_in_its_case(habit: str, case: str, says: str) -> None:
    found = wrong(habit)
    assert says in found[case], found


def test_what_comes_unasked_is_found() -> None:
    assert "'done'" in " ".join(wrong("afterthought").values())


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, *arguments: str) -> int:
    """Run the command line in a folder; gives its exit code."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["auditor", "consumer", "check", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_the_command_has_exit_codes_and_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = f"{sys.executable} stubborn.py"
    assert run(monkeypatch, PROGRAMS, "--command", program) == 0
    assert "14 cases, 0 wrong" in capsys.readouterr().out
    assert run(monkeypatch, PROGRAMS, "--command", program + " few") == 1
    out = capsys.readouterr().out
    assert "WRONG  many values" in out
    assert "to do: answer every value, in the order of the values" in out
    assert run(monkeypatch, PROGRAMS, "--command", "no-such-program") == 2
    assert "there is no such program on PATH" in capsys.readouterr().err
    assert run(monkeypatch, PROGRAMS) == 2
    assert run(monkeypatch, PROGRAMS, "a", "--command", "b") == 2
    assert run(monkeypatch, PROGRAMS, "--command", "'unclosed") == 2


def test_a_consumer_of_a_spec_is_checked_for_the_names_that_the_spec_asks_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = (
        'name = "t"\n[cases]\npredictions = "p.csv"\nreferences = "r.csv"\n[fields.total]\ntype = "decimal"\n'
        f'[consumers.portal]\nadapter = "process"\ncommand = ["{sys.executable}", "{PROGRAMS / "stubborn.py"}"]\n'
    )
    (tmp_path / "audit.toml").write_text(text + 'reads.total = "f"\n')
    assert run(monkeypatch, tmp_path, "portal") == 0
    assert run(monkeypatch, tmp_path, "portl") == 2
    assert "did you mean 'portal'?" in capsys.readouterr().err
    (tmp_path / "audit.toml").write_text(text + 'reads.total = "h"\n')
    assert run(monkeypatch, tmp_path, "portal") == 1
    assert "it reads f, g, and not h" in capsys.readouterr().out


def test_only_a_program_can_be_checked() -> None:
    spec, consumer = described((), adapter="python")
    with pytest.raises(ConsumerError, match="it is a python consumer"):
        check_program(spec, consumer)


def test_a_whole_audit_and_one_string_through_a_program(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("case_id,total\nC-1,12.50\nC-2,N/A\nC-3,die\n")
    (tmp_path / "r.csv").write_text("case_id,total\nC-1,12.5\nC-2,3\nC-3,4\n")
    program = tmp_path / "read.py"
    program.write_text(
        "import json, sys\n"
        "def read(text):\n"
        "    if text == 'die': sys.exit(3)\n"
        "    try: float(text)\n"
        "    except ValueError as error: return {'rejected': repr(error)}\n"
        "    return 'decimal:' + text\n"
        "for line in sys.stdin:\n"
        "    m = json.loads(line)\n"
        "    if 'start' in m: answer = {'ready': 1, 'version': '7', 'reads': ['total']}\n"
        "    elif 'read' in m: answer = {'id': m['id'], 'values': [read(text) for text in m['values']]}\n"
        "    else: break\n"
        "    print(json.dumps(answer), flush=True)\n"
    )
    (tmp_path / "audit.toml").write_text(
        'name = "t"\n[cases]\npredictions = "p.csv"\nreferences = "r.csv"\n'
        '[fields.total]\ntype = "decimal"\nreference = "portal"\n'
        f'[consumers.portal]\nowner = "web"\nadapter = "process"\ncommand = ["{sys.executable}", "read.py"]\n'
    )
    output = tmp_path / "o.json"
    done = call("run", tmp_path, "--fail-on", "never", "--probe", "quick", "-o", output)
    assert done.returncode == 0, done.stderr
    import json

    run = json.loads(output.read_text())
    (column,) = run["columns"]
    assert [column[name] for name in ("support", "ok", "rejected", "crashed")] == [3, 1, 1, 1]
    assert run["consumers"][0]["settings"]["program"] == "7"
    shown = call("read", "total", "1.10", "x", "--probe", "off", "--spec", tmp_path).stdout
    assert "portal  decimal:1.10" in shown
    assert "portal  rejected: ValueError(" in shown
