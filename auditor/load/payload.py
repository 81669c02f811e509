"""The payload of a reply: who takes a JSON object out of the text, and what an object may hold to be one.

`strict` takes a text that is a JSON object and nothing else. `fenced` also takes the one code fence of a text. A
function of the spec's own is called elsewhere, by whoever gives `Contract.reader`. The text is data: nothing in it
chooses how it is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from auditor.load.census import Census
from auditor.load.contract import STRICT, Contract
from auditor.load.json_lines import members
from auditor.load.malformed import why_malformed
from auditor.load.rows import item_at, member, value_at
from auditor.load.tokens import token_of
from auditor.model.payload_path import PayloadPath, Steps

#: JSON types that the values of a field may have where they must be its own; null says that there is none.
_OWN: Final = {
    **dict.fromkeys(("date", "datetime", "category", "identifier"), ("a string",)),
    **dict.fromkeys(("decimal", "money", "quantity"), ("a number", "a string")),
    **dict.fromkeys(("integer", "ordinal"), ("a number",)),
    "boolean": ("true or false",),
    "category: integer": ("a number",),
    "category: mixed": ("a string", "a number", "true or false"),
}
_KIND_OF_START: Final = {'"': "a string", "{": "an object", "[": "an array", "t": "true or false", "f": "true or false"}
_FENCE: Final = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)(?:^[ \t]*```[ \t]*\r?$|\Z)", re.DOTALL | re.MULTILINE)
_CONSTANT: Final = re.compile(r"-?\b(?:NaN|Infinity)\b")


class NotOfContractError(ValueError):
    """An object that the contract refuses."""


def fenced_text(text: str) -> str:
    """Give the content of the one code fence of a text, or the text where there is none or several."""
    found = _FENCE.findall(text)
    return found[0] if len(found) == 1 and not text.lstrip().startswith("{") else text


def braced_text(text: str) -> str:
    """Give what stands from the first brace of a text to its last one."""
    return text[text.find("{") : text.rfind("}") + 1]


class PayloadReader:
    """Reads the texts of replies into the tokens of the fields, and counts in `census` what they held.

    `census` is the one of the arm that `of_arm` named last; `censuses` has that of each.
    """

    def __init__(self, contract: Contract, paths: Mapping[str, Sequence[PayloadPath]]) -> None:
        self.contract, self.paths = contract, paths
        self.census = Census()
        self.censuses: dict[str | None, Census] = {}
        known = [*(first for first, *_ in paths.values()), *contract.not_judged]
        self._known = {head for path in known for head in path.heads}

    def of_arm(self, arm: str | None) -> None:
        """Count what is read next among the replies of an arm."""
        self.census = self.censuses.setdefault(arm, Census())

    @property
    def taken(self) -> int:
        """Replies that were read, whichever arm they are of."""
        return sum(census.taken for census in self.censuses.values())

    def objects(self, texts: Sequence[str]) -> Sequence[tuple[str | None, str]]:
        """Give the text of the object in each reply, or None and why the spec's own function gives none."""
        if self.contract.reader is not None:
            return self.contract.reader(texts)
        if self.contract.payload == "fenced":
            return [(fenced_text(text), "") for text in texts]
        return [(text, "") for text in texts]

    def read(self, text: str, whole: str | None, why: str) -> tuple[list[str | None] | None, str]:
        """Give the token of each field in `whole`, which was taken from `text`; or None and why there is none."""
        self.census.ended += 1
        tokens = None if whole is None else self.tokens(whole)
        self.census.strict += (self.contract.payload == "strict" and tokens is not None) or (
            self.contract.payload != "strict" and self._is_read(text)
        )
        if whole is None or tokens is None:
            self._count_recovered(text)
            return None, why or why_malformed(whole if whole is not None else text, self._read)
        self.census.taken += 1
        self._count_kinds(whole, tokens)
        return tokens, ""

    def tokens(self, whole: str) -> list[str | None] | None:
        """Give the token of each field in the text of an object, or None where the contract does not take it."""
        try:
            return self._read(whole)
        except (ValueError, RecursionError):  # not JSON, no object, or not what the contract takes
            return None

    def _read(self, whole: str) -> list[str | None]:
        found = members(whole, constants=self.contract.constants == "accept")
        if self.contract.extra == "forbid" and (extra := [key for key, _ in found if key not in self._known]):
            raise NotOfContractError(f"a key of no field: {extra[0][:40]!r}")
        chosen = found if self.contract.duplicate_keys == "malformed" else self._once(found)
        tokens = [self._at(chosen, paths[0]) for paths in self.paths.values()]
        if self.contract.json_types == "own":
            for name, token in zip(self.paths, tokens, strict=True):
                if kind := self._foreign_kind(name, token):
                    raise NotOfContractError(f"{kind} for the field {name!r}")
        return tokens

    def _once(self, found: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        return list(dict(found).items())

    def _at(self, found: Sequence[tuple[str, str]], path: PayloadPath) -> str | None:
        values = (self._at_place(found, place) for place in path.choices)
        value = next((value for value in values if value is not None), None)
        return None if value is None else token_of(value)

    def _at_place(self, found: Sequence[tuple[str, str]], place: Steps) -> str | None:
        head, *rest = place
        outer = member(found, str(head))
        return outer if outer is None or not rest else self._nested(outer, rest)

    def _nested(self, source: str, steps: Sequence[str | int]) -> str | None:
        if self.contract.duplicate_keys == "malformed":
            return value_at(source, steps)
        for step in steps:
            value = item_at(source, step) if isinstance(step, int) else None
            if isinstance(step, str) and source[:1] == "{":
                value = dict(self._once(members(source, constants=True))).get(step)
            if value is None:
                return None
            source = value
        return source

    def _foreign_kind(self, name: str, token: str | None) -> str:
        if token is None or token == "null":
            return ""
        kind = _KIND_OF_START.get(token[0], "a number")
        return "" if kind in _OWN[self.contract.types[name]] else kind

    def _is_read(self, text: str) -> bool:
        return self.tokens(text) is not None

    def _count_recovered(self, text: str) -> None:
        others = {"strict": text, "fenced": fenced_text(text), "the outermost braces": braced_text(text)}
        others.pop(self.contract.payload, None)
        names = [name for name, other in others.items() if self._is_read(other)]
        self.census.recovered.update(names)
        self.census.recovered["any"] += bool(names)

    def _count_kinds(self, whole: str, tokens: Sequence[str | None]) -> None:
        names = [key for key, _ in members(whole, constants=True)]
        for key in dict.fromkeys(names):
            if key not in self._known:
                self.census.count("a key of no field", key)
            if names.count(key) > 1:
                self.census.count("a key that occurs twice", key)
        for name, token in zip(self.paths, tokens, strict=True):
            if kind := self._foreign_kind(name, token):
                self.census.count("a JSON type that is not the field's", f"{name}: {kind}")
            if token is not None and _CONSTANT.fullmatch(token):
                self.census.count("NaN or Infinity", name)


def read_completion(text: str, paths: Mapping[str, Sequence[PayloadPath]]) -> list[str | None] | None:
    """Give the token of each field in the text of a completion, or None where a strict reader does not take it."""
    return PayloadReader(STRICT, paths).tokens(text)
