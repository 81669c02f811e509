"""What `init` leaves out of a spec, said in the spec: names that are no field of both files, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from auditor.cli.records import FINISH_NAMES, SAMPLE, Sample
from auditor.spec.lines import quoted

#: Columns that say something about a case and are no fields of it.
_ABOUT_CASES = frozenset({*FINISH_NAMES, "error", "locale", "jurisdiction"})
_WIDTH = 118


def last_of(path: str) -> str:
    """Give the name of a field from its path."""
    return path.rpartition(".")[2]


def is_about_cases(predicted: Sample, path: str) -> bool:
    """Whether a column says something about a case: a locale, a finish reason, an error."""
    return path.lower().replace("_", "") in _ABOUT_CASES or path in (predicted.finish, predicted.error)


def places_of(name: str, sample: Sample) -> list[str]:
    """Give the paths that end in a name."""
    return [path for path in sample.names if last_of(path) == name]


def left_out(
    predicted: Sample, asserted: Sample, id_name: str, taken: Collection[str], paths: Collection[str]
) -> list[str]:
    """Give comment lines that name every column without a field of its own, by the reason.

    `taken` are the names of fields, `paths` where their predictions and references stand.
    """
    rest = [path for path in asserted.names if path not in paths and path != id_name]
    about = [path for path in rest if is_about_cases(predicted, path)]
    twice = [path for path in rest if path not in about and last_of(path) in taken]
    nested = [path for path in rest if path not in (*about, *twice) and len(places_of(last_of(path), predicted)) > 1]
    only_asserted = [path for path in rest if path not in (*about, *twice, *nested)]
    known = {*paths, *asserted.names, id_name}
    only_predicted = [path for path in predicted.names if path not in known and not is_about_cases(predicted, path)]
    lists = [name for name in dict.fromkeys((*asserted.lists, *predicted.lists)) if name not in taken]
    reasons = {
        "in the references and not in the predictions": [path for path in only_asserted if path not in lists],
        "in the predictions and not in the references": only_predicted,
        "in several places of the predictions (set `path`)": nested,
        "another field of that name is above (set `reference_path`)": twice,
        "about the case, no field of it": about,
        "arrays, which are compared as text where you add them": lists,
    }
    lines = [line for why, names in reasons.items() if names for line in _wrapped(f"# Left out, {why}:", names)]
    if predicted.is_cut or asserted.is_cut:
        lines += [f"# Of a longer file the first {SAMPLE:,} rows were looked at: what occurs only later is not here."]
    return [*lines, ""] if lines else []


def _wrapped(head: str, names: Iterable[str]) -> list[str]:
    lines, listed = [head], list(map(quoted, names))
    for number, name in enumerate(listed, 1):
        word = name + ("" if number == len(listed) else ",")
        if len(lines[-1]) + 1 + len(word) > _WIDTH:
            lines.append("#")
        lines[-1] += f" {word}"
    return lines
