"""The `auditor` command: what it is made of. Each command imports what it needs when it runs, so help is instant."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer

from auditor.cli.consumer import check
from auditor.cli.discover import discover
from auditor.cli.doctor import doctor
from auditor.cli.drift import drift
from auditor.cli.exits import end_by_signals, exiting
from auditor.cli.findings import accept, list_findings, reopen, show
from auditor.cli.freeze import freeze
from auditor.cli.import_log import import_log
from auditor.cli.init import init
from auditor.cli.raw_strings import TakesRawStrings
from auditor.cli.read import read
from auditor.cli.record import record
from auditor.cli.redecode import redecode
from auditor.cli.report import report
from auditor.cli.run import run
from auditor.cli.runs import runs
from auditor.cli.schema import schema
from auditor.cli.serve import serve
from auditor.cli.tokens import list_tokens, new, revoke
from auditor.version import VERSION

app = typer.Typer(
    name="auditor",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: no import of rich, the same bytes everywhere
    context_settings={"help_option_names": ["-h", "--help"]},
)

for command in (run, read, report, runs, freeze, schema, init, discover, doctor, record, drift, redecode, serve):
    app.command(cls=TakesRawStrings if command is read else None)(exiting(command))

app.command(name="import")(exiting(import_log))

consumer = typer.Typer(no_args_is_help=True, help="Work on one consumer.", rich_markup_mode=None)
consumer.command()(exiting(check))
app.add_typer(consumer, name="consumer")


@consumer.callback()
def _consumer() -> None:
    """Work on one consumer: check a program that is one."""


findings = typer.Typer(
    no_args_is_help=True, help="The bugs of a run, and what is known of them.", rich_markup_mode=None
)
findings.command(name="list")(exiting(list_findings))
findings.command()(exiting(show))
findings.command()(exiting(accept))
findings.command()(exiting(reopen))
app.add_typer(findings, name="findings")

token = typer.Typer(no_args_is_help=True, help="Who may ask the service.", rich_markup_mode=None)
token.command()(exiting(new))
token.command(name="list")(exiting(list_tokens))
token.command()(exiting(revoke))
app.add_typer(token, name="token")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"auditor {VERSION}")
        raise typer.Exit


@app.callback()
def auditor(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Score extracted fields once per downstream consumer, with each consumer's own parser, and audit the parsers.

    Exit codes: 0 done; 1 findings at or above --fail-on; 2 the audit could not be done; 3 broken references;
    4 a comparison is refused, or not what was frozen; 130 interrupted.
    """


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        # Data may hold what the terminal's encoding cannot: it is shown escaped rather than ending the report.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    end_by_signals()
    # To look for plugins reads the metadata of everything that is installed, and what we validate has none. A consumer
    # has its own environment, and its plugins.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    app()
