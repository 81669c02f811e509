"""What production runs, where that is not exactly what is audited: which engine may stand for which product."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Products that another build of the same code may stand for, by the engine that does.
STANDS_FOR = {"spark": "databricks", "googlesql": "bigquery"}

#: Products that people take for one and that are two.
_NOT_ONE = {("mariadb", "mysql"): "MariaDB and MySQL are two products: they read some strings differently"}

_WRITTEN = re.compile(r"([a-z]+)(?: +(\S.*))?")


@dataclass(frozen=True)
class Production:
    """A product as the spec names it, with the version that it has there, empty where the spec does not say."""

    product: str
    version: str

    @property
    def shown(self) -> str:
        """Name it: ``postgres 15.4``."""
        return f"{self.product} {self.version}".strip()


def production_of(text: str) -> Production | None:
    """Read what a spec says of production, ``postgres 15.4``; None where that is no product with its version."""
    found = _WRITTEN.fullmatch(text.strip().lower())
    return Production(found[1], found[2] or "") if found else None


def mistake_in(engine: str, text: str) -> tuple[str, str] | None:
    """Say what is wrong with an engine that is to stand for production, and what to do instead."""
    production = production_of(text)
    if production is None:
        return f'"{text}" is no product with its version', 'such as production = "postgres 15.4"'
    if production.product == engine:
        if production.version:
            return None
        return "does not say which version runs there", f'such as production = "{engine} 15.4"; else remove it'
    if STANDS_FOR.get(engine) == production.product:
        return None
    known = _NOT_ONE.get((engine, production.product))
    hint = 'record what production itself gives: adapter = "recorded", and `auditor record`'
    if known:
        hint += "; a MySQL server that `connection` names is known for what it is without `production`"
    what = known or f"{engine} is another product than {production.product}, and stands for nothing but itself"
    if engine in STANDS_FOR:
        what += f" and {STANDS_FOR[engine]}"
    return what, hint
