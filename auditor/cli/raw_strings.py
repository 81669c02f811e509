"""Arguments that are data: a string such as ``-5 EUR`` is no option, although it begins with a dash."""

from __future__ import annotations

import re
from typing import Any

import typer
from typer.core import TyperCommand

#: Stands before such a string while the command line is parsed; no argument of a process can hold it.
_MARK = "\0"
_NO_OPTION = re.compile(r"-[^A-Za-z-]")


class TakesRawStrings(TyperCommand):
    """A command whose arguments may begin with a dash: all that no option of it can be is an argument."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line; `unmarked` gives the arguments as they were."""
        end = args.index("--") if "--" in args else len(args)
        known = {name for option in self.get_params(ctx) for name in option.opts}
        marked = [self._marked(argument, known) for argument in args[:end]]
        return super().parse_args(ctx, [*marked, *args[end:]])

    def _marked(self, argument: str, known: set[str]) -> str:
        if _NO_OPTION.match(argument):
            return _MARK + argument
        if re.match(r"-[A-Za-z]", argument) and argument[:2] not in known:
            raise typer.BadParameter(
                f"there is no option {argument[:2]}; a string that begins with a dash comes after --, as in: "
                f'auditor read FIELD -- "{argument}"'
            )
        return argument


def unmarked(arguments: list[str]) -> list[str]:
    """Give arguments as they were typed."""
    return [argument.removeprefix(_MARK) for argument in arguments]
