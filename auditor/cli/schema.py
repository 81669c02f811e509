"""`auditor schema`: what `audit.toml` may say, for editors."""

from __future__ import annotations

import json

import typer

from auditor.cli.exits import readable_until_closed


def schema() -> None:
    """Print the JSON Schema of audit.toml, so that editors complete and check it."""
    from auditor.spec.schema import json_schema

    with readable_until_closed():
        typer.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))
