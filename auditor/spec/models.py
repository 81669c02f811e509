"""The spec as pydantic models: what `audit.toml` may say, and what the other rooms read.

Values are normalised here (durations to seconds, sizes to bytes, one path to a tuple), so no other room parses text.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from auditor.model.environment import BASE_CLOCK, Environment
from auditor.model.left_out import LeftOut
from auditor.model.payload_path import PayloadPath, WrittenPath, payload_path

FieldType = Literal[
    "date", "datetime", "money", "decimal", "quantity", "integer", "ordinal", "boolean", "category", "identifier"
]
Adapter = Literal["python", "pydantic", "sql", "process", "http", "recorded"]
Method = Literal["POST", "PUT", "PATCH", "GET"]
Engine = Literal[
    "duckdb",
    "sqlite",
    "postgres",
    "mariadb",
    "clickhouse",
    "datafusion",
    "spark",
    "googlesql",
    "sqlalchemy",
    "adbc",
    # Warehouses out of reach: their answers are recorded where they run.
    "snowflake",
    "bigquery",
    "redshift",
    "databricks",
    "tsql",
    "trino",
    "mysql",
]
Statement = Literal["cast", "insert", "copy"]
Receives = Literal["text", "json", "python"]
LogFormat = Literal["openai-batch", "anthropic-batch", "inspect-ai", "promptfoo", "lm-eval", "langfuse"]
FinishOutcome = Literal["judged", "truncated", "refused", "transport", "unknown"]
DuplicateKeys = Literal["malformed", "last"]
Rounding = Literal["half_up", "half_even", "down"]


class Table(BaseModel):
    """A table of the spec: unknown keys are mistakes, values are frozen."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=False)


class CasesSpec(Table):
    """Where completions and references are, and which of their columns mean what."""

    predictions: tuple[str, ...] = Field(
        description="Files of predictions: CSV, JSONL or Parquet; a path, a list or a glob."
    )
    references: tuple[str, ...] = Field(
        description="Files of references: CSV, JSONL or Parquet; a path, a list or a glob."
    )
    id: str = Field("case_id", description="Column that names the case, in both files.")
    completion: str | None = Field(None, description="Column of the completion text (a JSON object).")
    finish: str | None = Field(None, description="Column of the finish reason.")
    error: str | None = Field(None, description="Column of the transport error.")
    assume_finish: str | None = Field(None, description="Finish reason asserted where a completion has none.")
    refusal: str | None = Field(None, description="Column of the text with which the model refused.")
    finish_reasons: dict[str, FinishOutcome] = Field(
        default_factory=dict, description="What finish reasons mean that are not known, or mean something else."
    )
    format: LogFormat | None = Field(None, description="Format of the eval logs, where their content does not tell.")
    filter: str | None = Field(
        None, description="Whose answers are judged where a log has several to a case: filter, or provider and prompt."
    )
    tool: str | None = Field(
        None, description="Eval logs: the tool whose input is the payload, where replies call several."
    )
    attempts: Literal["first", "last"] | None = Field(
        None, description="Which of several completions of one case is graded; without it a repeated id is an error."
    )
    payload: str = Field(
        "strict", description="Who takes the JSON object out of a reply: strict, fenced, or module:function."
    )
    payload_root: str | None = Field(
        None, description="Import root of the payload's module:function, relative to the spec's folder."
    )
    extra: Literal["allow", "forbid"] = Field("allow", description="Whether a payload may hold keys of no field.")
    duplicate_keys: DuplicateKeys = Field(
        "malformed", description="What a key of a field that occurs twice in a payload makes of it."
    )
    constants: Literal["malformed", "accept"] = Field(
        "malformed", description="What NaN, Infinity and -Infinity make of a payload, which are no JSON."
    )
    json_types: Literal["any", "own"] = Field(
        "any", description="Whether values may have another JSON type than their field's own."
    )
    split: str | None = Field(None, description="Column that says to which split (dev, held-out…) a case belongs.")
    input: str | None = Field(None, description="Column of the text that the model was given.")
    arm: tuple[str, ...] = Field(
        (), description="Columns of the predictions that name the model that gave them; arms are never mixed."
    )
    abstain: tuple[str, ...] = Field((), description="Texts with which the model says that it gives no answer.")
    min_judged: int = Field(8, description="Cases that a column must judge for its content rate to be comparable.")
    max_blocked: float = Field(0.2, description="Share of blocked cases beyond which no content rate is comparable.")
    agreement: bool = Field(
        False,
        description="Whether columns also say accuracy and Cohen's kappa, or mean absolute error and Spearman's rho.",
    )
    locale: str | None = Field(None, description="Column with the case's locale; `locale` where the file has it.")
    jurisdiction: str | None = Field(None, description="Column with the jurisdiction; `jurisdiction` where it exists.")


class FieldsFromSpec(Table):
    """The Pydantic model that defines fields; keys of [fields.NAME] stand before what it says."""

    model: str = Field(description="module:Model of Pydantic 2.")
    root: str | None = Field(
        None, description="Import root of the model, relative to the spec's folder, which it is by default."
    )
    interpreter: str | None = Field(None, description="Python interpreter that imports the model; ours by default.")
    leave_out: tuple[str, ...] = Field((), description="Fields of the model that are none of the audit.")


class FieldSpec(Table):
    """One typed slot of a case."""

    name: str = Field(description="The field's name: its key in the spec.")
    type: FieldType = Field(description="Type of the value.")
    path: WrittenPath | None = Field(
        None,
        description="Dotted path of the prediction in the payload, or a list of places of which the first that is "
        "there counts; the field's name if absent.",
    )
    reference_path: str | None = Field(
        None, description="Column or dotted path of the reference; the field's name if absent."
    )
    grain: str | None = Field(None, description="Granularity of equality: day, month…; 0.01; 1 g.")
    rounding: Rounding = Field("half_up", description="How a value is rounded to the grain.")
    unit: str | None = Field(None, description="Unit of a quantity that arrives as a plain number.")
    currency: Literal["compared", "ignored"] | None = Field(
        None, description="Whether the currency of money counts; needed where only some consumers give one."
    )
    members: Literal["text", "integer", "mixed"] | None = Field(
        None,
        description="What the members of a category are in canonical form: text, integers, or mixed ones.",
    )
    minimum: int | None = Field(None, description="Lowest value of an ordinal.")
    maximum: int | None = Field(None, description="Highest value of an ordinal.")
    reference: str = Field("typed", description="Who reads the reference: a consumer, `typed`, or `each`.")
    abstain: tuple[str, ...] | None = Field(None, description="The same as in [cases], for this field alone.")

    @property
    def prediction_path(self) -> PayloadPath:
        """Where the prediction is in a payload."""
        return payload_path(self.path or self.name)

    @property
    def reference_places(self) -> PayloadPath | None:
        """Where the reference is, if the spec says so."""
        return payload_path(self.reference_path) if self.reference_path else None

    def decoder_for(self, consumer: str) -> str:
        """Name who reads the references that a consumer is compared with: a consumer, itself perhaps, or `typed`."""
        return consumer if self.reference == "each" else self.reference

    def is_decoded_by(self, consumer: str) -> bool:
        """Say whether a consumer reads references of this field, its own or everybody's."""
        return self.decoder_for(consumer) == consumer


class ConsumerSpec(Table):
    """A downstream system and how to call its own parsers."""

    name: str = Field(description="The consumer's name: its key in the spec.")
    owner: str = Field("", description="Team that owns the consumer.")
    adapter: Adapter = Field(description="How its parsers are called.")
    root: str | None = Field(None, description="Import root, or a program's folder, relative to the spec's folder.")
    command: tuple[str, ...] = Field(
        (), description="Program and arguments of a process consumer; run in `root`, else in the spec's folder."
    )
    needs: tuple[str, ...] = Field(
        (),
        description="Programs, or its own engine, without which the consumer is left out of an audit, which says so.",
    )
    interpreter: str | None = Field(None, description="Python interpreter of the consumer; ours by default.")
    timeout: float = Field(2.0, description="Seconds that one string may take.")
    memory: int = Field(
        1024**3,
        description="Bytes it may use: address space of a worker, resident memory of a program (2 GiB by default).",
    )
    env: dict[str, str] = Field(default_factory=dict, description="Environment variables of the consumer.")
    receives: Receives = Field(
        "text", description="What a parser is handed: content as text, JSON text, or a Python value."
    )
    reads: dict[str, str] = Field(
        default_factory=dict,
        description="Parser of each field: module:function, a model's field, an SQL expression or, where values are "
        "loaded, a column's type, a program's or a service's own name for it.",
    )
    at_least: dict[str, float] = Field(
        default_factory=dict,
        description="Content rate, by field, below which the consumer's column fails the run, as does one with none.",
    )
    engine: Engine | None = Field(None, description="SQL engine, or the warehouse that was recorded.")
    statement: Statement = Field(
        "cast", description="SQL: values pass an expression (cast), or are loaded into a column (insert, copy)."
    )
    connection: str | None = Field(
        None, description="SQL: env:NAME, the variable with the URL of a server that runs; without it one is started."
    )
    server: str | None = Field(None, description="SQL: folder of the programs of a server that is started.")
    model: str | None = Field(None, description="module:Model of a pydantic consumer, or path of an SQL model file.")
    scope: Literal["payload", "field"] = Field(
        "payload", description="Pydantic and SQL model files: read the whole payload, or each field alone."
    )
    settings: dict[str, str] = Field(
        default_factory=dict, description="SQL and recorded: session settings, applied with SET."
    )
    batch: bool = Field(
        False, description="Python: a parser takes a list of raw values and gives a value for each, in their order."
    )
    batch_size: int | None = Field(
        None, description="Python, with `batch`: rows of a production batch; without it a file's rows are one batch."
    )
    url: str | None = Field(
        None, description="HTTP: where a value is sent; {value}, {field} and {env:NAME} stand for what they say."
    )
    method: Method = Field("POST", description="HTTP: method of the request.")
    headers: dict[str, str] = Field(
        default_factory=dict,
        description='HTTP: headers of the request; a secret is "env:NAME", or {env:NAME} in a text.',
    )
    request: str | None = Field(
        None, description='HTTP: JSON body of the request, such as { field = "{field}", value = "{value}" }.'
    )
    value: str | None = Field(
        None, description='HTTP: dotted path of the value in an answer; "." is all of it, "status" the string as sent.'
    )
    rejected: tuple[int, ...] = Field((400, 422), description="HTTP: statuses that say that a value is rejected.")
    message: str | None = Field(None, description="HTTP: dotted path of the error in an answer that rejects a value.")
    concurrency: int = Field(8, description="HTTP: requests under way at one time.")
    retries: int = Field(2, description="HTTP: times that a request is sent again where it got no answer at all.")
    redirects: bool = Field(False, description="HTTP: redirects are followed, on the same host.")
    ca: str | None = Field(
        None, description="HTTP: PEM file of the authority that vouches for the service, instead of the public ones."
    )
    version: str | None = Field(
        None, description="HTTP: where the service says its version: the name of a header, or a url of the same host."
    )
    emulate: bool = Field(
        False, description="SQL: the text of a warehouse out of reach is transpiled into DuckDB, and decides nothing."
    )
    calibrate: str | None = Field(
        None, description="SQL: records of the warehouse that an emulation is held against (see `results`)."
    )
    production: str | None = Field(
        None, description="SQL: product and version that production runs, where that is not what is audited."
    )
    results: str | None = Field(
        None,
        description="Recorded: file of what a warehouse gave for the SQL of `auditor record` (CSV or JSONL).",
    )
    planned: bool = Field(False, description="The consumer does not exist yet.")
    version_of: str | None = Field(None, description="The consumer of the spec that lists this one as a version.")


class EnvironmentSpec(Table):
    """The base environment that every decoding happens in."""

    clock: str = Field(BASE_CLOCK, description="Fixed instant, ISO 8601 with offset.")
    zone: str = Field("UTC", description="IANA time zone.")
    locale: str = Field("C.UTF-8", description="POSIX locale.")
    hash_seed: int = Field(0, description="PYTHONHASHSEED.")

    def environment(self) -> Environment:
        """Give the base environment."""
        return Environment("base", self.clock, self.zone, self.locale, self.hash_seed)


class AuditSpec(Table):
    """A whole spec. `file` is where it was read; every path in it is relative to `folder`.

    `left_out` are consumers of the file that are in none of the rest, since what they need is not installed.
    `not_judged` are fields of the model of `fields_from` that are in none of the rest, each with its path in a payload.

    >>> cases = CasesSpec(predictions=("predictions.csv",), references=("references.csv",))
    >>> AuditSpec(name="one", file=Path("audit.toml"), folder=Path(), cases=cases, fields={}, consumers={}).cases.id
    'case_id'
    """

    name: str
    file: Path
    folder: Path
    cases: CasesSpec
    fields: dict[str, FieldSpec]
    consumers: dict[str, ConsumerSpec]
    environment: EnvironmentSpec = EnvironmentSpec()
    left_out: tuple[LeftOut, ...] = ()
    fields_from: FieldsFromSpec | None = None
    not_judged: dict[str, WrittenPath] = {}
