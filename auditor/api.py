"""The library: the same frozen objects that the commands print."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from auditor.audit.events import RunFinished
from auditor.audit.freezing import freeze_audit
from auditor.audit.guard import Guard
from auditor.audit.reading import as_token, read_strings
from auditor.audit.run import audit
from auditor.errors import StoreError
from auditor.model.reading import Reading
from auditor.model.run import Column, Finding, Run
from auditor.probe import Level
from auditor.spec.find import find_spec, runs_folder
from auditor.spec.models import AuditSpec
from auditor.spec.read import read_spec, spec_from
from auditor.store.lock_file import lock_path, read_lock, write_lock
from auditor.store.reading import StoredRun, load_run

if TYPE_CHECKING:
    import duckdb

    from auditor.model.drift import Drift
    from auditor.model.redecoding import Redecoding

TABLES = ("pairs", "outcomes", "faults", "warnings", "moves")


@dataclass(frozen=True)
class AuditedRun:
    """A finished run and the folder that holds its tables; shows itself in a notebook.

    `run` is what every report renders; `columns` and `findings` are its parts that people ask for first.

    >>> from auditor.model.run import CaseCounts, RunEnvironment
    >>> base = RunEnvironment("2024-03-08T09:05:07+00:00", "UTC", "C.UTF-8", 0)
    >>> run = Run("r1", "contracts", "", "", "0.1.0", base, CaseCounts(0, 0, 0, 0), {}, (), (), (), (), ())
    >>> AuditedRun(run, folder=None).findings
    ()
    """

    run: Run
    folder: Path | None

    @property
    def columns(self) -> tuple[Column, ...]:
        """One column per (field, consumer), for each arm where there are any, and for each split after those."""
        return self.run.columns

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The bugs of the pipeline, worst first."""
        return self.run.findings

    def column(self, field: str, consumer: str, arm: str | None = None) -> Column:
        """Give one column, in a run of arms that of an `arm`; KeyError names those there are."""
        return self.run.column(field, consumer, arm)

    def table(self, name: Literal["pairs", "outcomes", "faults", "warnings", "moves"]) -> duckdb.DuckDBPyRelation:
        """Give a table of the run as a DuckDB relation (``.df()``, ``.pl()``, ``.to_arrow_table()``).

        `pairs`: one row per distinct pair, a verdict letter per consumer in `pattern`; `outcomes`: one row per distinct
        raw value, s/v/k (status, value, grain key) per consumer number; `faults`: why a consumer has no value;
        `warnings`: what its SQL engine said or did silently beside one;
        `moves`: one row per raw value, consumer and environment in which it is not what it is in the base.
        """
        import duckdb

        if name not in TABLES:
            raise KeyError(f"no table {name!r}; there are: {', '.join(TABLES)}")
        if self.folder is None:
            raise StoreError("this run was not stored, so it has no tables; run with store=True")
        # A connection of its own: the default one is the caller's, and may be busy with a result of theirs.
        return duckdb.connect().read_parquet(str(self.folder / f"{name}.parquet"))

    def verdicts(self) -> duckdb.DuckDBPyRelation:
        """Give every case as every consumer has it: a DuckDB relation to filter, to page through or to write away.

        Columns: `case_id`, `field`, `consumer`, `verdict` (a name of "How to read a column"), `prediction` and
        `reference` (raw values as JSON text, NULL where there is none), `value` and `reference_value` (what they were
        decoded to, as tagged text), `error` (why the prediction has no value); in a run of arms, `arm` comes
        first. In no particular order; counted by field, consumer and verdict (and arm) it gives the numbers of the
        columns. StoreError where the run was not stored.
        """
        from auditor.audit.stored_lists import case_verdicts

        if self.folder is None:
            raise StoreError("this run was not stored, so it has no verdicts of cases; run with store=True")
        return case_verdicts(self.run, self.folder)

    def moves(self) -> duckdb.DuckDBPyRelation:
        """Give every raw value that is something else in another environment: what the findings show two strings of.

        Columns: `field`, `consumer`, `raw` (as JSON text), `is_prediction`, `is_reference`, `codes` (of the findings
        that it is one of, blank-separated), `environment` (a name of ``run.probe.environments``, or in words the rows
        that were loaded with it), `status`, `value` and `error` there, `base_status` and `base_value`. An environment
        has one factor that is not that of the base, but where only several factors together, or chance, move the value:
        there it is one that shows it (``everything 1``; ``base, 2nd time``), and of more strings than are isolated (see
        the README) NULL. StoreError where the run was not stored.
        """
        from auditor.audit.stored_lists import stored_moves

        if self.folder is None:
            raise StoreError("this run was not stored, so it has no moves; run with store=True")
        return stored_moves(self.run, self.folder)

    def drift(self, new: AuditedRun, *, common: bool = False) -> Drift:
        """Compare this run with a later one, case by case: what `auditor drift` prints; reads stored runs only.

        `columns` of it have the rates of both sides, the flips with their cases, McNemar's tests, and the difference
        (parts of 1) with its interval. Runs of different cases are Refused, unless `common` compares the shared cases;
        StoreError where one of the two was not stored, or was changed since.

        >>> import pathlib, tempfile, auditor
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "r.csv").write_text(chr(10).join(["case_id,day", *(f"{n},2024-03-01" for n in range(9))]))
        >>> def audited(days):
        ...     rows = [f"{case},{day}" for case, day in enumerate(days)]
        ...     _ = (folder / "p.csv").write_text(chr(10).join(["case_id,day", *rows]))
        ...     reads = {"adapter": "python", "reads": {"day": "datetime:date.fromisoformat"}}
        ...     cases = {"predictions": str(folder / "p.csv"), "references": str(folder / "r.csv")}
        ...     spec = {"name": "one", "cases": cases, "fields": {"day": {"type": "date"}}, "consumers": {"api": reads}}
        ...     return auditor.run(spec, probe="off")
        >>> old, new = audited(["2024-03-01"] * 9), audited(["2024-03-01"] * 7 + ["1 March"] * 2)
        >>> [column] = old.drift(new).columns
        >>> [(flip.old, flip.new, flip.cases) for flip in column.flips], column.paired.discordant
        ([('ok', 'rejected', ('7', '8'))], 2)
        """
        from auditor.drift.compare import compare

        return compare(self._stored("drift"), new._stored("drift"), common=common)

    def redecode(
        self, spec: str | Path | Mapping[str, Any] | AuditSpec | None = None, *, probe: Level = "full"
    ) -> Redecoding:
        """Decode the raw outputs of this run with today's consumers: what `auditor redecode` prints.

        `spec` is found as `auditor.run` finds it. The new run is stored; `new.run_id` of the result names it.
        `regressions` of a column are strings that were accepted and now are not, or have another value; `intended` is
        junk that is now rejected. AuditorError where no consumer of the spec reads a field of the run.
        """
        from auditor.audit.redecode import redecode, redecoding

        today, stored = _spec(spec), self._stored("redecode")
        with closing(redecode(today, stored, probe=probe)) as events:
            for event in events:
                if isinstance(event, RunFinished):
                    return redecoding(today, stored, event)
        raise AssertionError("an audit ends with RunFinished")

    def _stored(self, what: str) -> StoredRun:
        if self.folder is None:
            raise StoreError(f"this run was not stored, so there is nothing to {what}; run with store=True")
        return StoredRun(self.run, self.folder)

    def write(self, path: str | Path) -> Path:
        """Render the run to a file; the suffix picks the format (.html .json .md .csv)."""
        from auditor.report import render

        render(self.run, Path(path))
        return Path(path)

    def _repr_html_(self) -> str:
        from auditor.report.notebook import notebook_html

        return notebook_html(self.run)


def run(
    spec: str | Path | Mapping[str, Any] | AuditSpec | None = None,
    *,
    broken_references: Literal["stop", "report"] = "stop",
    store: bool = True,
    probe: Literal["full", "quick", "off"] = "full",
    locked: bool = False,
) -> AuditedRun:
    """Audit a pipeline: a spec file, its folder, its content as a mapping, or (None) the one found from here.

    `probe` says how much is decoded again in other environments, to find what depends on more than the string.
    `locked` holds the audit against audit.lock (see `freeze`).

    Raises AuditorError when there is no faithful score, or cases, consumers or spec are not those of the lock. Paths of
    a mapping are relative to the current folder.

    >>> import pathlib, tempfile, auditor
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> rows = ["case_id,field,prediction,reference", "1,paid,TRUE,true", "2,paid,no,false"]
    >>> _ = (folder / "records.csv").write_text(chr(10).join(rows))
    >>> _ = (folder / "parsers.py").write_text("def paid(text): return {'true': True, 'no': False}[text.lower()]")
    >>> _ = (folder / "audit.toml").write_text('''
    ... name = "payments"
    ... [cases]
    ... predictions = "records.csv"
    ... references = "records.csv"
    ... [fields.paid]
    ... type = "boolean"
    ... [consumers.billing]
    ... adapter = "python"
    ... reads.paid = "parsers:paid"
    ... ''')
    >>> audited = auditor.run(folder)
    >>> audited.column("paid", "billing").content_rate, audited.findings
    (1.0, ())
    """
    audited = _spec(spec)
    guard = Guard(read_lock(lock_path(audited))) if locked else None
    with closing(audit(audited, broken_references=broken_references, store=store, probe=probe, guard=guard)) as events:
        for event in events:
            if isinstance(event, RunFinished):
                return AuditedRun(event.run, event.folder)
    raise AssertionError("an audit ends with RunFinished")


def freeze(spec: str | Path | Mapping[str, Any] | AuditSpec | None = None) -> Path:
    """Write audit.lock beside the spec: its cases, the version of each consumer, and the spec; gives its path.

    Loads the cases and starts each consumer once. AuditorError where one of both cannot be done.

    >>> import pathlib, tempfile, auditor
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> rows = ["case_id,field,prediction,reference", "1,day,2024-03-01,2024-03-01"]
    >>> _ = (folder / "records.csv").write_text(chr(10).join(rows))
    >>> _ = (folder / "audit.toml").write_text('''
    ... name = "one"
    ... cases = { predictions = "records.csv", references = "records.csv" }
    ... fields.day.type = "date"
    ... consumers.stdlib = { adapter = "python", reads.day = "datetime:date.fromisoformat" }
    ... ''')
    >>> auditor.freeze(folder).name
    'audit.lock'
    >>> auditor.run(folder, locked=True).column("day", "stdlib").content_rate
    1.0
    """
    frozen = _spec(spec)
    write_lock(freeze_audit(frozen), lock_path(frozen))
    return lock_path(frozen)


def load(run: str | Path = "latest", *, runs: str | Path | None = None) -> AuditedRun:
    """Open a stored run: its folder, its id or the start of it, or ``latest``; needs no consumer.

    `runs` is the folder of runs, by default the one of the spec that is found from here.

    >>> import auditor
    >>> auditor.load("2000", runs="no/such/folder")
    Traceback (most recent call last):
    auditor.errors.StoreError: run 2000: neither a folder with a run.json nor an id in no/such/folder; there are 0; ...
    """
    if runs is None:
        runs = runs_folder(find_spec()) if not (Path(run) / "run.json").is_file() else Path(run).parent
    stored = load_run(run, Path(runs))
    return AuditedRun(stored.run, stored.folder)


def read(
    field: str,
    *strings: str,
    spec: str | Path | Mapping[str, Any] | AuditSpec | None = None,
    probe: Level = "full",
) -> tuple[Reading, ...]:
    """Show what every consumer of a field makes of some strings, and what that depends on besides them.

    `probe` says how many other environments are tried: full, quick or off.

    >>> import auditor
    >>> spec = {
    ...     "name": "one",
    ...     "cases": {"predictions": "none.csv", "references": "none.csv"},
    ...     "fields": {"day": {"type": "date"}},
    ...     "consumers": {"stdlib": {"adapter": "python", "reads": {"day": "datetime:date.fromisoformat"}}},
    ... }
    >>> [reading] = auditor.read("day", "2024-03-01", spec=spec)
    >>> reading.decodings["stdlib"].value, reading.dependences
    ('date:2024-03-01', {})
    """
    return read_strings(_spec(spec), field, [as_token(text) for text in strings], probe=probe)


def _spec(spec: str | Path | Mapping[str, Any] | AuditSpec | None) -> AuditSpec:
    if isinstance(spec, AuditSpec):
        return spec
    if isinstance(spec, Mapping):
        return spec_from(spec, Path.cwd() / "(a mapping)")
    return read_spec(Path(spec) if spec is not None else None)
