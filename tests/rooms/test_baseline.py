"""What a team says of its bugs: the file is read with all its mistakes at once, and says which bugs are new."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from auditor.errors import SpecError, StoreError
from auditor.model.baseline import Baseline, Entry
from auditor.store.baseline import baseline_text, read_baseline, write_baseline
from tests.rooms.report_samples import FINDINGS

FINDING = FINDINGS[0]
TODAY = date(2024, 6, 30)


@pytest.mark.parametrize(
    ("said", "until", "state"),
    [
        ("accepted", None, "accepted"),
        ("accepted", date(2024, 6, 30), "accepted"),
        ("accepted", date(2024, 6, 29), "expired"),
        ("known", None, "known"),
        ("known", date(2024, 6, 29), "expired"),
        ("fixed", None, "returned"),
    ],
)
def test_what_was_said_holds_until_its_day(said, until, state):
    baseline = Baseline({FINDING.fingerprint: Entry(FINDING.fingerprint, said, "why", until)})
    assert baseline.state_of(FINDING, TODAY) == state
    assert bool(baseline.failing([FINDING], TODAY)) == (state in ("expired", "returned"))


def test_a_bug_of_which_nothing_is_said_is_new_and_fails():
    other = replace(FINDING, fingerprint="another")
    baseline = Baseline({FINDING.fingerprint: Entry(FINDING.fingerprint, "accepted", "why")})
    assert baseline.state_of(other, TODAY) == "new"
    assert baseline.failing([FINDING, other], TODAY) == (other,)


def test_an_entry_whose_bug_is_not_found_is_gone_unless_it_is_said_to_be_fixed():
    left, fixed = Entry("left", "accepted", "why"), Entry("fixed", "fixed", "release 12")
    assert Baseline({"left": left, "fixed": fixed}).gone([FINDING]) == (left,)


def test_what_is_written_is_read_again(tmp_path: Path):
    texts = 'a "quoted" \\ text,\nin two lines \x7f \u202e é'
    entries = {
        name: Entry(name, "known", texts, date(2030, 12, 31), TODAY, "format-ceiling", texts) for name in ("b", 'a"')
    }
    file = tmp_path / "auditor-baseline.toml"
    write_baseline(file, Baseline(entries))
    assert read_baseline(file).entries == entries
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path):
    with pytest.raises(StoreError, match=r"gone/auditor-baseline\.toml: could not be written: No such"):
        write_baseline(tmp_path / "gone" / "auditor-baseline.toml", Baseline())


def test_an_entry_more_is_lines_more_and_nothing_else():
    entries = {name: Entry(name, "known", "why", code="format-ceiling", title=name) for name in "abcd"}
    without = baseline_text(Baseline({name: entry for name, entry in entries.items() if name != "c"})).splitlines()
    rest = iter(baseline_text(Baseline(dict(reversed(entries.items())))).splitlines())
    assert all(line in rest for line in without)


def test_no_file_says_nothing(tmp_path: Path):
    assert read_baseline(tmp_path / "auditor-baseline.toml") == Baseline()


MISTAKES = {
    '["a"]\nstate = "acepted"\nreason = "x"\n': "auditor-baseline.toml:1: a: state is 'acepted'",
    '["a"]\nstate = "known"\n': "auditor-baseline.toml:1: a: there is no reason",
    '["a"]\nstate = "known"\nreason = "  "\n': "auditor-baseline.toml:1: a: there is no reason",
    '\n["a"]\nstate = "known"\nreason = "x"\nuntil = "2030-12-31"\n': "toml:2: a: until is '2030-12-31', no date",
    '["a"]\nstate = "known"\nreason = "x"\nuntil = 2030-12-31T10:00:00\n': "no date",
    '["a"]\nstate = "known"\nreason = "x"\nutil = 2030-12-31\n': "there is no key util\n    did you mean until?",
    '["a"]\nstate = "known"\nreason = "x"\ntitle = 3\n': "a: title is no text",
    "a = 3\n": "auditor-baseline.toml:1: a: is no table",
    '["a"]\n["a"]\n': "may stand there once: were two changes merged?",
    "<<<<<<< HEAD\n": "is no TOML",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, text: str):
    (tmp_path / "auditor-baseline.toml").write_text(text)
    with pytest.raises(SpecError) as caught:
        read_baseline(tmp_path / "auditor-baseline.toml")
    assert MISTAKES[text] in str(caught.value)


def test_all_mistakes_are_named_at_once(tmp_path: Path):
    (tmp_path / "auditor-baseline.toml").write_text('["a"]\nstate = "no"\n["b"]\nreason = "x"\n')
    with pytest.raises(SpecError) as caught:
        read_baseline(tmp_path / "auditor-baseline.toml")
    assert len(caught.value.mistakes) == 3
