"""`auditor import`: what a file of replies is taken for, and what it holds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from auditor.cli.exits import readable_until_closed

if TYPE_CHECKING:
    from auditor.load.logs.summary import LogSummary
    from auditor.spec.models import LogFormat

_SHOWN = 20
_LONGEST = 60


def import_log(
    file: Annotated[Path, typer.Argument(help="A batch's output, an eval log, or a plain file of predictions.")],
    log_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="openai-batch, anthropic-batch, inspect-ai, promptfoo, lm-eval or langfuse; else its content tells.",
        ),
    ] = None,
    case_id: Annotated[
        str, typer.Option("--id", help="Dotted path of the case's id in a record; the log's own id without it.")
    ] = "case_id",
    log_filter: Annotated[
        str | None, typer.Option("--filter", help="Whose answers count, of several to a case.")
    ] = None,
    arm: Annotated[
        list[str] | None, typer.Option("--arm", help="What names the arm of a reply, such as model; may repeat.")
    ] = None,
    tool: Annotated[str | None, typer.Option("--tool", help="The tool whose input is the payload.")] = None,
) -> None:
    """Show what a file of replies is recognised as: ids, finish reasons by count, fields, references, models.

    Nothing is converted: name the file in [cases] of a spec.
    """
    from auditor.load.logs.summary import summarise
    from auditor.spec.models import CasesSpec

    cases = CasesSpec(
        predictions=(str(file),),
        references=(str(file),),
        id=case_id,
        filter=log_filter,
        tool=tool,
        arm=tuple(arm or ()),
    )
    found = summarise(file.absolute(), cases, _known_format(log_format))
    with readable_until_closed():
        for line in _lines(found):
            typer.echo(line)


def _known_format(name: str | None) -> LogFormat | None:
    from auditor.errors import AuditorError
    from auditor.spec.models import LogFormat

    if name is not None and name not in get_args(LogFormat):
        raise AuditorError(f"--format {name}: there is no such format; there are: {', '.join(get_args(LogFormat))}")
    return cast("LogFormat | None", name)


def _lines(found: LogSummary) -> list[str]:
    if found.columns:
        return [
            f"{found.name}: {found.format}, no eval log",
            f"rows            {found.rows:,}",
            *([f"ids             {len(found.ids):,}: {_ids(found)}"] if found.ids else []),
            *([f"finish reasons  {_counted(found.finish_reasons, 'none')}"] if found.finish_reasons else []),
            *([f"outcomes        {_counted(found.outcomes)}, by those reasons"] if found.outcomes else []),
            f"columns         {', '.join(_short(name) for name in found.columns[:_SHOWN])}",
        ]
    return [
        f"{found.name}: {found.format} ({found.shape})",
        f"replies         {found.rows:,} of {len(found.ids):,} cases"
        + (f"; {found.repeated:,} more of a case that has one: choose with [cases] attempts" if found.repeated else ""),
        f"ids             {_ids(found)}",
        *([f"choose          {_choice(found)}"] if found.answerers else []),
        f"finish reasons  {_counted(found.finish_reasons, 'none')}",
        f"outcomes        {_counted(found.outcomes)}",
        f"payloads        {_counted(found.readers) or 'none'} (by who can read them)",
        f"fields          {_counted(found.payload_keys) or 'none'}",
        f"references      {_counted(found.references) or 'none: join a file of references by the id'}",
        f"next            auditor init {found.name}" + ("" if found.references else " REFERENCES"),
        *(f"{f'arm, by {what} ':<16}{_counted(counts, 'none')}" for what, counts in found.asked.items() if any(counts)),
    ]


def _choice(found: LogSummary) -> str:
    """Say how one of several answers to each case is chosen, or how all of them are scored."""
    names = " or ".join(f'"{_short(name)}"' for name in found.answerers[:_SHOWN])
    more = f" and {len(found.answerers) - _SHOWN} more" if len(found.answerers) > _SHOWN else ""
    arms = ", ".join(f'"{name}"' for name in found.arms)
    return f"[cases] filter = {names}{more}; or arm = [{arms}], a column of each"


def _ids(found: LogSummary) -> str:
    return ", ".join(_short(name) for name in list(found.ids)[:3]) + (", …" if len(found.ids) > 3 else "")


def _counted(counts: Counter[str], empty: str = "") -> str:
    more = f" and {len(counts) - _SHOWN} more" if len(counts) > _SHOWN else ""
    return ", ".join(f"{_short(name) or empty} {count:,}" for name, count in counts.most_common(_SHOWN)) + more


def _short(text: str) -> str:
    from auditor.report.text import visible

    return visible(text, _LONGEST)
