"""Lines on a console: data escaped, marks that the encoding can write, wrapped with a hanging indent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from rich.console import Console
from rich.text import Text

from auditor.report.text import DATA_LIMIT, PROSE_LIMIT, visible

LABEL: Final = 13


@dataclass(frozen=True)
class Marks:
    """The characters that draw a bar."""

    full: str = "█"
    accepted: str = "▒"
    rest: str = "·"
    ceiling: str = "│"


UNICODE: Final = Marks()
ASCII: Final = Marks("#", "=", ".", "|")

#: Typography of our own sentences for encodings that do not have it; data is escaped instead.
_PLAIN: Final = str.maketrans({"·": "-", "–": "-", "—": "-", "…": "...", "→": "->", "≠": "!=", "−": "-"})


class Paper:
    """Writes to a console and never lets data be markup, an escape sequence or a character it cannot encode."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.encoding = console.encoding or "ascii"
        self.width = max(console.width, 40)
        whole = self._encodable("█▒·│–—…→≠−")
        self.marks = UNICODE if whole else ASCII
        self._typography: dict[int, str] = {} if whole else _PLAIN

    def _encodable(self, text: str) -> bool:
        try:
            text.encode(self.encoding)
        except (UnicodeEncodeError, LookupError):
            return False
        return True

    def text(self, content: str, style: str = "", limit: int = DATA_LIMIT) -> Text:
        """Give data as text on one line."""
        shown = visible(content, limit).translate(self._typography)
        if not self._encodable(shown):
            shown = shown.encode("ascii", "backslashreplace").decode()
        return Text(shown, style=style)

    def blank(self) -> None:
        """End a paragraph."""
        self.console.print()

    def line(self, *parts: Text, indent: int = 0, hang: int = 0, head: Text | None = None) -> None:
        """Print parts as one line; what does not fit goes on below, `hang` cells further in, where `head` ends."""
        rest = " " * (indent + hang)
        start = Text(" " * indent) if head is None else Text(" " * indent).append_text(head)
        if head is not None:
            start.pad_right(max(len(rest) - start.cell_len, 0))
        wrapped = Text.assemble(*parts).wrap(self.console, max(self.width - len(rest), 20), overflow="fold")
        for number, piece in enumerate(wrapped or [Text()]):
            piece.rstrip()
            printed = (Text(rest) if number else start).append_text(piece)
            printed.rstrip()
            self.console.print(printed, soft_wrap=True, highlight=False, emoji=False, markup=False)

    def item(self, label: str, content: str | Text, style: str = "", indent: int = 0) -> None:
        """Print a label and, beside it, what it names."""
        body = content if isinstance(content, Text) else self.text(content, style, PROSE_LIMIT)
        self.line(body, indent=indent, hang=LABEL, head=Text(label, style="dim"))

    def grid(self, rows: Sequence[Sequence[Text]], right: frozenset[int] = frozenset()) -> list[Text]:
        """Set rows in columns as wide as their widest cell, numbers flush right, no blanks at the end."""
        widths = [max(cell.cell_len for cell in column) for column in zip_longest(*rows, fillvalue=Text())]
        lines = []
        for row in rows:
            line = Text()
            for number, cell in enumerate(row):
                blanks = " " * (widths[number] - cell.cell_len)
                line.append("  " if number else "")
                line.append_text(Text(blanks).append_text(cell) if number in right else cell.copy().append(blanks))
            line.rstrip()
            lines.append(line)
        return lines
