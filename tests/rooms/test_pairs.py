"""Golden pairs: what each reference consumer's own parser makes of a raw string. A case is a line in tests/pairs."""

from pathlib import Path

import pytest

from tests.pipeline import CONSUMERS, SPEC, decode

FOLDER = Path(__file__).parents[1] / "pairs"


def lines_of(suffix: str, columns: int) -> list[tuple[str, ...]]:
    """Read (field, column, ...) from tab-separated files named after the field; # starts a comment."""
    rows = []
    for file in (FOLDER / f"{name}{suffix}" for name in SPEC["fields"]):
        for line in filter(None, file.read_text().splitlines() if file.exists() else []):
            if not line.startswith("#"):
                row = (file.name.removesuffix(suffix), *line.split("\t"))
                assert len(row) == columns + 1, f"{file.name}: {line!r} needs {columns} columns"
                rows.append(row)
    return rows


#: Of the consumers that run here; those of Node and Java are left out where there is none.
DECODINGS = [row for row in lines_of(".txt", 3) if row[2] in CONSUMERS]
VERDICTS = [row for row in lines_of(".verdicts.txt", 4) if row[3] in CONSUMERS]


@pytest.mark.parametrize(("field", "raw", "consumer", "expected"), DECODINGS)
def test_decoding(field: str, raw: str, consumer: str, expected: str) -> None:
    """The parser that production runs gives the value that stands in the file."""
    assert decode(consumer, field, raw) == expected


@pytest.mark.parametrize(("field", "prediction", "reference", "consumer", "verdict"), VERDICTS)
def test_verdict(field: str, prediction: str, reference: str, consumer: str, verdict: str) -> None:
    """A prediction that cannot be read is lost; one that can is right if it is the value of the reference."""
    truth, value = decode(SPEC["fields"][field]["reference"], field, reference), decode(consumer, field, prediction)
    assert truth not in ("null", "rejected")
    assert verdict == (value if value in ("null", "rejected") else "ok" if value == truth else "wrong")


def test_pairs_cover_every_field() -> None:
    """Each field has pairs, and each of its consumers is in one."""
    seen = {(field, consumer) for field, _, consumer, _ in DECODINGS}
    wanted = {(field, name) for name, consumer in CONSUMERS.items() for field in consumer["reads"]}
    assert wanted - seen == set()
