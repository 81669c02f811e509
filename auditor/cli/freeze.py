"""`auditor freeze`: writes down what a run is bound to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from auditor.model.lock import Lock
    from auditor.spec.models import AuditSpec


def freeze(
    spec: Annotated[
        Path | None, typer.Argument(help="The spec, or its folder; by default that of this folder.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Where to write; by default audit.lock beside the spec."),
    ] = None,
) -> None:
    """Write audit.lock: the cases, the version of each consumer and the spec, for `auditor run --locked`.

    Loads the cases and starts each consumer once. Commit the lock: what changes in it is there to be reviewed.
    """
    from auditor.audit.freezing import freeze_audit
    from auditor.cli.outputs import check_inputs_stay, from_here
    from auditor.spec.read import read_spec
    from auditor.store.lock_file import lock_path, write_lock

    frozen = read_spec(spec)
    path = output or lock_path(frozen)
    check_inputs_stay([path], frozen)
    lock = freeze_audit(frozen)
    write_lock(lock, path)
    _say(lock, frozen)
    typer.echo(f"written: {from_here(path.absolute())}")
    if path.absolute() != lock_path(frozen).absolute():
        typer.echo(f"`auditor run --locked` reads {from_here(lock_path(frozen))}, and not this one", err=True)


def _say(lock: Lock, spec: AuditSpec) -> None:
    typer.echo(f"cases      {lock.cases.count:,}, manifest {lock.manifest_sha256[:16]}…")
    for name, consumer in lock.consumers.items():
        typer.echo(f"consumer   {name}, version {consumer.version}")
    typer.echo(f"spec       {len(lock.spec)} keys, sha256 {lock.spec_sha256[:16]}…")
    for one in spec.left_out:
        typer.echo(f"not frozen: {one.why}; a run where it is there will be refused", err=True)
