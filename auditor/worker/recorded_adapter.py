"""Adapter for a warehouse out of reach: its own answers, as it gave them on a day, from a file (`recorded_file.py`).

What the file lacks is ``not_recorded``: it is never guessed. The engine's texts become values as those of an engine
that runs (`engine_texts.py`), by the type that the engine names or, where it names none, by the field's.
"""

from __future__ import annotations

import re

from .bound_rows import tagger_of
from .engine_common import Column
from .engine_texts import tag_column
from .recorded_file import AGAIN, Answer, read_records
from .trouble import StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Tuple, Union

    Value = Tuple[Optional[str], Optional[List[str]]]

NOT_RECORDED = "the records hold no answer for it: run `auditor record` again for what is new"

NO_MESSAGE = "rejected; the records do not say why"

#: Tags by how the name of a type begins, in any engine; what is not here is tagged by the field's type.
TAGS = (
    (r"interval", "other"),
    (r"(timestamp|datetime|smalldatetime)", "datetime"),
    (r"date", "date"),
    (r"time", "time"),
    (r"(u?int|bigint|smallint|tinyint|mediumint|hugeint|integer|long$|short|byte$|serial)", "int"),
    (r"(numeric|decimal|bignumeric|bigdecimal|number|fixed|smallmoney|money)", "decimal"),
    (r"(float|double|real)", "float"),
    (r"(bool|bit$)", "bool"),
    (
        r"(varchar|n?varchar|nchar|char|character|text|(tiny|medium|long|n)text|string|uuid|name$|uniqueidentifier|enum|json)",
        "text",
    ),
)
WRAPPED = re.compile(r"^(?:(?:nullable|lowcardinality)\()+")


def tag_of(kind: str, field: str) -> "Union[str, Callable[[str], Optional[str]]]":
    """Give the tag of an engine's type, or what tags a text by the field's type."""
    name = WRAPPED.sub("", kind.lower())
    for pattern, tag in TAGS:
        if re.match(pattern, name):
            return tagger_of(field) if field == "boolean" and tag == "int" else tag
    return tagger_of(field)


class RecordedAdapter:
    """The answers of one warehouse, by field and string."""

    def __init__(self, config: "Dict[str, Any]") -> None:
        self.record = config["record"]
        self.engine = config["engine"]
        self.records = read_records(self.record["file"], self.record["shown"])
        self.tried = "take %s for %s" % (self.record["shown"], config["consumer"])
        self.again = "run `auditor record %s` again, and what it writes in the warehouse" % config["consumer"]
        self.reads = {field: target for field, target in config["reads"].items() if field in config["fields"]}
        self._see_engine()
        self.values = {field: self._values(field, config["fields"][field]) for field in self.reads}

    def _see_engine(self) -> None:
        """See that the records are of this engine and of what the spec asks it."""
        about = self.records.about
        for name in ("engine", "version", "recorded_at"):
            if not about.get(name, "").strip():
                raise StartError(self.tried, "no row about it says its %s" % name, AGAIN)
        if about["engine"] != self.engine:
            seen = "it was recorded in %s, and the spec says engine = %s" % (about["engine"], self.engine)
            raise StartError(self.tried, seen, "correct `engine`, or " + self.again)
        for field in self.reads:
            recorded, asked = about.get("contract." + field), self.record["contracts"][field]
            if recorded is None:
                raise StartError(self.tried, "it holds nothing on the field %s" % field, self.again)
            if recorded != asked:
                seen = "reads.%s, `engine` or `settings` are not what was recorded (%s, now %s)" % (
                    field,
                    recorded,
                    asked,
                )
                raise StartError(self.tried, seen, self.again)

    def _values(self, field: str, kind: str) -> "Dict[str, Value]":
        """Give tagged text or fault of every recorded string of a field."""
        by_type: "Dict[str, List[Tuple[str, Answer]]]" = {}
        for string, answer in self.records.answers.get(field, {}).items():
            by_type.setdefault(answer.kind, []).append((string, answer))
        found: "Dict[str, Value]" = {}
        for name, answers in by_type.items():
            column = Column([answer.value if answer.status == "value" else None for _, answer in answers])
            column.errors = {
                index: answer.error or NO_MESSAGE
                for index, (_, answer) in enumerate(answers)
                if answer.status == "rejected"
            }
            texts, faults = tag_column(column, tag_of(name, kind), name or "that is not recorded")
            for index, (string, _) in enumerate(answers):
                found[string] = texts[index], faults.get(index)
        return found

    def ready(self) -> "Dict[str, Any]":
        """Say what was recorded, where and when."""
        about = self.records.about
        settings = {"engine": engine_name(about["engine"], about["version"]), "recorded_at": about["recorded_at"]}
        settings["results"] = self.record["shown"]
        settings.update(
            {name[len("setting.") :]: value for name, value in sorted(about.items()) if name.startswith("setting.")}
        )
        parts = {"results": self.records.sha256, "engine": about["engine"], "version": about["version"]}
        canary: "Dict[str, Any]" = {"clock": None, "offsets": [], "locale": "", "hash_seed": None}
        strings = {field: list(self.values[field]) for field in self.reads} if self.record["lists"] else {}
        ready = {"reads": self.reads, "version_parts": parts, "settings": settings, "canary": canary}
        return {**ready, "recorded": strings}

    def decode_batch(self, field: str, values: "List[str]") -> "Tuple[List[Optional[str]], Dict[int, List[str]]]":
        """Answer from the records."""
        known = self.values[field]
        lacking: "Value" = None, ["not_recorded", NOT_RECORDED]
        texts: "List[Optional[str]]" = []
        faults: "Dict[int, List[str]]" = {}
        for index, value in enumerate(values):
            text, fault = known.get(value, lacking)
            texts.append(text)
            if fault is not None:
                faults[index] = fault
        return texts, faults


def engine_name(engine: str, version: str) -> str:
    """Name the engine with its version, once."""
    first = version.strip().split("\n")[0]
    return first if first.lower().startswith(engine) else "%s %s" % (engine, first)


def open_adapter(config: "Dict[str, Any]") -> RecordedAdapter:
    """Read the records."""
    return RecordedAdapter(config)
