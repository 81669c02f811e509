"""The matrix of consumers: every string counts once for a pair, whatever its rows and however many consumers."""

from __future__ import annotations

import random
from itertools import combinations, product

import duckdb
import pytest

from auditor.model.run import Disagreement
from auditor.score.fields import disagreements

NAMES = tuple("abcdef")  # 15 pairs: more than one mask holds
INDEX = {name: number for number, name in enumerate(NAMES)}
READERS = {"one": NAMES, "two": ("b", "e"), "three": ("c",)}

Cell = tuple[str | None, str | None]


def rows(payloads: int) -> list[tuple[str, str, str | None, list[Cell]]]:
    """Give rows of field, token, payload and each consumer's status and key."""
    chance = random.Random(7)
    found = []
    for (field, readers), number, payload in product(READERS.items(), range(300), range(payloads)):
        read: list[Cell] = [("v", chance.choice("xy")) if chance.random() < 0.6 else ("r", None) for _ in NAMES]
        cells = [cell if name in readers else (None, None) for name, cell in zip(NAMES, read, strict=True)]
        found.append((field, f'"{number}"', str(payload) if payloads > 1 else None, cells))
    return found


def counted(left: str, right: str, of_field: list[tuple[str, list[Cell]]]) -> Disagreement:
    """Count strings one by one, as the fields of `Disagreement` say."""
    seen: list[set[str]] = [set() for _ in range(6)]
    for token, cells in of_field:
        (a, a_key), (b, b_key) = cells[INDEX[left]], cells[INDEX[right]]
        takes_left, takes_right = a == "v", b == "v"
        kinds = (
            True,
            takes_left and takes_right and a_key == b_key,
            takes_left and takes_right and a_key != b_key,
            takes_left and not takes_right,
            takes_right and not takes_left,
            not takes_left and not takes_right,
        )
        for strings, is_so in zip(seen, kinds, strict=True):
            if is_so:
                strings.add(token)
    return Disagreement(left, right, *map(len, seen))


@pytest.mark.parametrize("payloads", [1, 3])
def test_each_pair_of_consumers_is_counted_by_strings(payloads: int) -> None:
    given = rows(payloads)
    connection = duckdb.connect()
    columns = ", ".join(f"s{number} VARCHAR, k{number} VARCHAR" for number in range(len(NAMES)))
    connection.execute(f"CREATE TABLE outcomes (field VARCHAR, token VARCHAR, payload VARCHAR, {columns})")
    marks = ", ".join("?" * (3 + 2 * len(NAMES)))
    connection.executemany(
        f"INSERT INTO outcomes VALUES ({marks})",
        [[field, token, payload, *(part for cell in cells for part in cell)] for field, token, payload, cells in given],
    )
    connection.execute("CREATE VIEW own_outcomes AS SELECT * FROM outcomes")
    found = disagreements(connection, READERS, INDEX)
    for field, readers in READERS.items():
        of_field = [(token, cells) for name, token, _, cells in given if name == field]
        assert found[field] == tuple(counted(*pair, of_field) for pair in combinations(readers, 2))
    assert found["three"] == ()
    assert found["one"][0].strings == 300
