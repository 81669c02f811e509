"""What `auditor init` says of predictions that are not written as the type of the references has it."""

from __future__ import annotations

import json

import pytest

from auditor.cli.guess import guess_type


def tokens(*values):
    return [json.dumps(value) for value in values]


SEEN = "a run shows what each consumer makes of them"


@pytest.mark.parametrize(
    ("references", "predictions", "notes"),
    [
        (["2024-03-01"], ["2024-03-01", "March 1, 2024"], ()),
        (
            ["2024-03-01"],
            ["2024-03-01", "March 2024", "N/A"],
            (f'2 of 3 distinct predictions: not written as dates, such as "N/A"; {SEEN}',),
        ),
        (
            ["2024-03-01"],
            ["2024-03-01", "01/03/2024"],
            (
                "of the predictions: no value tells whether the day or the month comes first; 1 is ambiguous, such as"
                ' "01/03/2024"',
            ),
        ),
        (["12.50"], ["12.50", "12.5x"], (f'1 of 2 distinct predictions: not numbers, such as "12.5x"; {SEEN}',)),
        (
            ["true", "false"],
            ["yes", "x", "maybe"],
            (f'1 of 3 distinct predictions: not words for true and false, such as "maybe"; {SEEN}',),
        ),
        (["PO-1"], ["PO-1", "none at all"], ()),
    ],
)
def test_predictions_that_a_type_does_not_fit_are_counted(references, predictions, notes):
    assert guess_type(tokens(*references), tokens(*predictions)).notes == notes


def test_where_there_are_no_references_the_type_is_of_the_predictions_and_nothing_is_said_twice():
    assert len(guess_type([], tokens("01/03/2024")).notes) == 1
