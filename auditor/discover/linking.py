"""Which table of a query is another model among the files: by name, and never in a circle."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from sqlglot import exp

from auditor.decode.sql_lineage import table_name
from auditor.decode.sql_outputs import Name
from auditor.discover.found import Problem
from auditor.discover.statements import Query

Link = tuple[int, Name]  # the number of the query that reads, and the table's name in lower case


def link_models(queries: Sequence[Query]) -> tuple[dict[Link, int], list[Problem]]:
    """Give for each table that is a model the number of its query.

    A model is known by the name of its file or of what it creates, whatever stands before it (``"db"."main"."stg"``).
    Where models would read each other in a circle, one of the names is a source table that is called like a model.
    """
    known: dict[str, list[int]] = defaultdict(list)
    for number, query in enumerate(queries):
        if query.kind != "insert" or not any(other.full == query.full for other in queries[:number]):
            known[query.name.lower()].append(number)
    links: dict[Link, int] = {}
    problems = []
    for number, query in enumerate(queries):
        for table in _tables(query):
            for target in (able := _fitting(known.get(table[-1], ()), table, queries))[:1]:
                if len(able) > 1:
                    what = f"{query.name} reads {'.'.join(table)}, and {len(able)} models have this name"
                    hint = "they are not followed: give only one of the files"
                    problems.append(Problem(query.place, what, f"{hint}: {_places(able, queries)}", unread=False))
                elif target != number:  # a model that reads itself is incremental, or named like its source
                    links[number, table] = target
    return _without_circles(links, queries, problems), problems


def _places(numbers: Iterable[int], queries: Sequence[Query]) -> str:
    return ", ".join(str(queries[number].place) for number in numbers)


def _tables(query: Query) -> list[Name]:
    """Give the names of the tables in a query, without those of its own CTEs."""
    inner = {cte.alias.lower() for cte in query.node.find_all(exp.CTE)}
    found: dict[Name, None] = {}
    for table in query.node.find_all(exp.Table):
        if isinstance(table.this, exp.Identifier) and (table.db or table.name.lower() not in inner):
            found[tuple(part.lower() for part in table_name(table))] = None
    return list(found)


def _fitting(numbers: Iterable[int], table: Name, queries: Sequence[Query]) -> list[int]:
    """Keep the models that a table's name can mean: where both name a schema, it is the same."""
    able = []
    for number in numbers:
        full = tuple(part.lower() for part in queries[number].full) or table[-1:]
        shared = min(len(full), len(table))
        if full[-shared:] == table[-shared:]:
            able.append(number)
    return able


def _without_circles(links: dict[Link, int], queries: Sequence[Query], problems: list[Problem]) -> dict[Link, int]:
    """Take out the links that close a circle: those whose schema is the rarest among all links."""
    usual = Counter(table[:-1] for _, table in links)
    left = dict(links)
    while circle := _circle(left):
        least = min(usual[table[:-1]] for _, table in circle)
        cut = [link for link in circle if usual[link[1][:-1]] == least]
        for link in _likeliest_source(cut, queries):
            target = left.pop(link)
            what = f"{queries[link[0]].name} reads {'.'.join(link[1])}, which is taken for a source table"
            hint = f"not for the model of {queries[target].place}: that one reads {queries[link[0]].name}"
            problems.append(Problem(queries[link[0]].place, what, hint, unread=False))
    return left


def _likeliest_source(links: list[Link], queries: Sequence[Query]) -> list[Link]:
    """Of links that may all lead to a source, keep those that look like it; all where none does.

    A bare name is rather a model's, and a model is rather called after its source (stg_orders after orders) than the
    other way round.
    """
    links = [link for link in links if len(link[1]) > 1] or links
    return [link for link in links if link[1][-1] in queries[link[0]].name.lower()] or links


def _circle(links: dict[Link, int]) -> list[Link]:
    """Find links that lead from a query back to itself."""
    onward: dict[int, list[Link]] = defaultdict(list)
    for link in links:
        onward[link[0]].append(link)
    done: set[int] = set()
    for start in list(onward):
        trail: list[Link] = []
        stack = [iter(onward[start])]
        on_trail = {start: 0}
        while stack and start not in done:
            onto = next(stack[-1], None)
            if onto is None:
                stack.pop()
                left = links[trail.pop()] if trail else start
                done.add(left)
                on_trail.pop(left, None)
                continue
            target = links[onto]
            if target in on_trail:
                return [*trail[on_trail[target] :], onto]
            if target not in done:
                trail.append(onto)
                on_trail[target] = len(trail)
                stack.append(iter(onward[target]))
    return []
