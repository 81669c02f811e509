"""Values at paths in JSON lines, and which of a field's paths is the one of a file: all its lines tell."""

from __future__ import annotations

from collections.abc import Sequence

from auditor.errors import LoadError, Mistake
from auditor.load.files import SourceFile, mistake
from auditor.load.layout import Layout
from auditor.load.rows import RawValues, RepeatedKeyError, Rows, line_of, tokens_of, value_at
from auditor.model.payload_path import PayloadPath, Steps


class FieldPaths:
    """The paths of one field in a file: what was seen under each."""

    def __init__(self, file: SourceFile, name: str, paths: Sequence[PayloadPath]) -> None:
        self.name = name
        self.paths = tuple(paths)
        self._file = file
        self._seen: set[PayloadPath] = set()
        self._only_second: int | None = None  # the first line that has the second path alone

    def read(self, rows: Rows) -> list[RawValues]:
        """Give the tokens under each path."""
        columns: list[RawValues] = [tokens_of(_at_path(self._file, rows, path)) for path in self.paths]
        for path, column in zip(self.paths, columns, strict=True):
            if path not in self._seen and column.count(None) < len(column):
                self._seen.add(path)
        if len(columns) > 1 and self._only_second is None:
            self._note_second(rows, columns[0], columns[1])
        return columns

    def _note_second(self, rows: Rows, first: RawValues, second: RawValues) -> None:
        pairs = enumerate(zip(first, second, strict=True))
        index = next((i for i, (one, other) in pairs if one is None and other is not None), None)
        if index is not None:
            self._only_second = line_of(self._file, rows.line, index)

    @property
    def chosen(self) -> int | None:
        """The number of the first path that occurs, None where none does."""
        return next((number for number, path in enumerate(self.paths) if path in self._seen), None)

    def mixed(self) -> Mistake | None:
        """Give the mistake of references that are now under one path and now under the other."""
        if self.chosen != 0 or self._only_second is None:
            return None
        first, second = (path.text for path in self.paths)
        return Mistake(
            f"{self._file.name}, line {self._only_second}",
            f"the reference of the field {self.name!r} may be {second!r}, which this line has, or {first!r}, which "
            "other lines have",
            f"say where it is: [fields.{self.name}] reference_path = …",
        )


def refuse_mixed(layout: Layout, fields: Sequence[FieldPaths]) -> None:
    """Refuse references of which nothing says where they are; for predictions the path of the spec does."""
    mistakes = [found for field in fields if (found := field.mixed()) is not None]
    if layout.role == "reference" and mistakes:
        raise LoadError(mistakes)


def _at_path(file: SourceFile, rows: Rows, path: PayloadPath) -> RawValues:
    """Give the values at a path: of each row the first place that is there."""
    first, *others = path.choices
    column = _at_place(file, rows, first)
    for place in others:
        pairs = zip(column, _at_place(file, rows, place), strict=True)
        column = [value if value is not None else other for value, other in pairs]
    return column


def _at_place(file: SourceFile, rows: Rows, place: Steps) -> RawValues:
    head, *rest = place
    column = rows.columns[str(head)]
    return column if not rest else [_nested(file, rows, index, parent, rest) for index, parent in enumerate(column)]


def _nested(file: SourceFile, rows: Rows, index: int, parent: str | None, steps: Sequence[str | int]) -> str | None:
    try:
        return None if parent is None else value_at(parent, steps)
    except RepeatedKeyError as error:
        number = line_of(file, rows.line, index)
        raise mistake(f"{file.name}, {rows.where} {number}", str(error), "keep one of them") from error
    except RecursionError as error:
        number = line_of(file, rows.line, index)
        raise mistake(f"{file.name}, {rows.where} {number}", "the value is nested too deeply to be read") from error
