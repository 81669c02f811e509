"""What every report says alike: the order of bugs, the badges of a column, the sentences that qualify a rate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from auditor.model.decoding import Decoding
from auditor.model.figures import NO_RATE, coverage, no_right_answer, percent, plural, scored, usable
from auditor.model.run import SEVERITIES, CaseCounts, Column, ConsumerSummary, FieldSummary, Finding, Run, Witness
from auditor.model.verdicts import BLOCKED_VERDICTS, FIELD_VERDICTS
from auditor.report import environments
from auditor.report.movement import dependences

WITHHELD = (
    "Rates are withheld: a reference that its decoder cannot read makes a score that looks exact and is not. Correct "
    "the broken references and run again, or count them with --broken-references report."
)

NO_BUGS = "No bugs found on these strings."

#: A headline says how many cases were judged once more than one of so many was not.
MANY_BLOCKED = 10

NO_CASES = "No case was judged, so there is no rate to show."

NO_FINDING = "No finding, and no clean result:"

EVERYWHERE = "usable everywhere"
EQUALITY = "string equality"


@dataclass(frozen=True)
class FieldView:
    """A field, of one arm where there are any, with its columns.

    `summary` is None when the run has columns of a field and nothing else on it.
    """

    field: str
    summary: FieldSummary | None
    columns: tuple[Column, ...]
    arm: str | None = None

    @property
    def name(self) -> str:
        """Name it: ``total``, or ``total · arm gpt-5``."""
        return of_arm(self.field, self.arm)

    @property
    def contract(self) -> str:
        """Give type, grain and reader of the reference: ``date · grain day · reference read by billing``."""
        if self.summary is None:
            return ""
        grain = f"grain {self.summary.grain}" if self.summary.grain else ""
        readers = {"": "", "typed": "references in canonical form", "each": "reference read by each consumer itself"}
        reader = readers.get(self.summary.reference, f"reference read by {self.summary.reference}")
        return " · ".join(part for part in (self.summary.type, grain, reader) if part)


def of_arm(field: str, arm: str | None) -> str:
    """Name a field, and whose predictions of it."""
    return field if arm is None else f"{field} · arm {arm}"


def field_views(run: Run) -> tuple[FieldView, ...]:
    """Give the fields in the order of the run, of each arm by itself, with their columns."""
    summaries = {(summary.field, summary.arm): summary for summary in run.fields}
    places = dict.fromkeys([*summaries, *((column.field, column.arm) for column in run.columns)])
    order = list(dict.fromkeys(field for field, _ in places))
    return tuple(
        FieldView(
            field,
            summaries.get((field, arm)),
            tuple(column for column in run.columns if (column.field, column.arm) == (field, arm)),
            arm,
        )
        for field, arm in sorted(places, key=lambda place: order.index(place[0]))
    )


def consumer_names(run: Run) -> tuple[str, ...]:
    """Give every consumer that has a column or a summary, in the order of the run."""
    named = [*(consumer.name for consumer in run.consumers), *(column.consumer for column in run.columns)]
    return tuple(dict.fromkeys(named))


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Order bugs: broken references, then by severity, then by cases affected, then by name."""

    def rank(finding: Finding) -> tuple[bool, int, int, str, str, str]:
        return (
            finding.code != "broken-reference",
            SEVERITIES.index(finding.severity),
            -finding.affected,
            finding.code,
            finding.field,
            finding.fingerprint,
        )

    return tuple(sorted(findings, key=rank))


def severity_counts(findings: Iterable[Finding]) -> dict[str, int]:
    """Count findings by severity, worst first, without the zeros."""
    severities = [finding.severity for finding in findings]
    return {severity: severities.count(severity) for severity in SEVERITIES if severity in severities}


def counts_line(counts: Mapping[str, int]) -> str:
    """Write counts by severity: ``12 high, 3 medium``."""
    return ", ".join(f"{count:,} {severity}" for severity, count in counts.items())


def owner_counts(findings: Iterable[Finding]) -> dict[str, dict[str, int]]:
    """Count the findings of each owner by severity; the owner of the worst bugs comes first."""
    by_owner: dict[str, list[Finding]] = {}
    for finding in findings:
        for owner in dict.fromkeys(finding.owners):
            by_owner.setdefault(owner, []).append(finding)
    counts = {owner: severity_counts(found) for owner, found in by_owner.items()}
    ranked = sorted(counts, key=lambda owner: ([-counts[owner].get(severity, 0) for severity in SEVERITIES], owner))
    return {owner: counts[owner] for owner in ranked}


def shape_lists(finding: Finding) -> dict[str, dict[str, int]]:
    """Give the shapes of a finding under their labels, without those that list none."""
    return {kind: shapes for kind, shapes in finding.shapes.items() if shapes}


def no_bugs(run: Run) -> str:
    """Say what it means that there is no finding: nothing good where some column has no right answer."""
    if not any(column.judged for column in run.columns):
        return f"{NO_FINDING} no case was judged."
    without = [
        f"{of_arm(column.field, column.arm)} for {column.consumer}" for column in run.columns if no_right_answer(column)
    ]
    if not without:
        return f"No bugs found {few_judged(run)}." if few_judged(run) else NO_BUGS
    more = f" and {plural(len(without) - 3, 'more column')}" if len(without) > 3 else ""
    return f"{NO_FINDING} no right answer in {', '.join(without[:3])}{more}."


def bugs_line(run: Run) -> str:
    """Say how many bugs there are: ``7 bugs: 4 high, 2 medium, 1 info``; and in how many cases, if not in most."""
    if not run.findings:
        return no_bugs(run)
    counts = counts_line(severity_counts(run.findings))
    few = f" {few_judged(run)}" if few_judged(run) else ""
    return f"{plural(len(run.findings), 'bug')}{few}: {counts}"


def few_judged(run: Run) -> str:
    """Say what a headline holds for where more than a tenth of the cases was not judged: nothing else was looked at."""
    for arm, cases in [(f" by arm {one.arm}", one.cases) for one in run.arms] or [("", run.cases)]:
        if MANY_BLOCKED * sum(_blocked_cases(cases).values()) > cases.expected:
            judged = "one judged case" if cases.judged == 1 else f"{cases.judged:,} judged cases"
            return f"in the {judged} of {cases.expected:,}{arm}"
    return ""


def more(count: int, noun: str = "") -> str:
    """Say how many more there are: ``1 more is``, ``12 more rows are``."""
    named = f" {noun if count == 1 else noun + 's'}" if noun else ""
    return f"{count:,} more{named} {'is' if count == 1 else 'are'}"


def counted(counts: Mapping[str, int]) -> str:
    """Join counts without the zeros: ``missing 2, transport 1``."""
    return ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in counts.items() if count)


def blocked_classes(column: Column) -> str:
    """Count what blocks a column by class: ``missing 2, transport 1``."""
    return counted({name: column.blocked_by.get(name, 0) for name in _blocked_names(column)})


def blocked(column: Column) -> str:
    """Say what is blocked and why: ``7 (missing 2, transport 1)``."""
    classes = blocked_classes(column)
    return f"{column.blocked:,} ({classes})" if classes else f"{column.blocked:,}"


def _blocked_names(column: Column) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*BLOCKED_VERDICTS, *column.blocked_by]))


def shape_loss(column: Column) -> str:
    """Say what is lost to shape: ``78 (63 recoverable)``."""
    lost = f"{column.lost_to_shape:,}"
    recoverable = scored(column, column.recoverable)
    return f"{lost} ({recoverable} recoverable)" if column.lost_to_shape and recoverable != NO_RATE else lost


def other_verdicts(column: Column) -> str:
    """Count the verdicts other than ok and wrong, and what lies outside support."""
    verdicts = {name: column.verdicts[name] for name in FIELD_VERDICTS if name not in ("ok", "wrong")}
    outside = {
        "unreferenced": column.unreferenced,
        "unexpected": column.unexpected,
        "broken references": column.broken_references,
    }
    return counted(verdicts | outside)


def usable_line(column: Column) -> str:
    """Say the usable rate with what it is of: ``usable 62.1 % of 240, coverage 97.1 %``."""
    if column.usable_rate is None:
        return f"support {column.support:,}"
    return f"usable {usable(column)} % of {column.support:,}, coverage {coverage(column)} %"


def badges(column: Column, run: Run) -> tuple[str, ...]:
    """Say what qualifies a column: its label, split and scope, what it depends on, what was not fixed or varied."""
    consumer = next((one for one in run.consumers if one.name == column.consumer), None)
    found = [
        f"split {column.split}" if column.split != "all" else "",
        label(column),
        f"{column.scope} scope" if column.scope else "",
        column.scope_note,
        f"not comparable: {column.not_comparable}" if not column.comparable else "",
        *dependences(run, column),
        *(f"hint: {hint}" for hint in column.hints),
        f"not fixed: {', '.join(consumer.not_fixed)}" if consumer and consumer.not_fixed else "",
        *(environments.not_varied_badges(run, consumer) if consumer else ()),
    ]
    return tuple(badge for badge in found if badge)


def label(column: Column | ConsumerSummary) -> str:
    """Say what stands behind a column where that is not the consumer's own product here and now."""
    note = f": {column.label_note}" if column.label_note else ""
    return f"{column.label}{note}" if column.label != "native" or note else ""


def untrusted(column: Column) -> str:
    """Say why a rate means nothing, or nothing: ``untrusted: constant-output``."""
    if "emulated" in column.untrusted:
        return "emulated: decides nothing"
    return f"untrusted: {', '.join(column.untrusted)}" if column.untrusted else ""


def decoded(decoding: Decoding) -> str:
    """Say what a consumer made of a string, in one line and whole; renderers shorten and escape it."""
    said = decoding.value if decoding.status == "value" else decoding.status.replace("_", " ")
    error = f": {decoding.error}" if decoding.error and decoding.status != "value" else ""
    return f"{said or ''}{error}"


def witness_place(witness: Witness) -> str:
    """Say where a witness comes from: ``prediction, case contract-017, 11 cases``."""
    case = f"case {witness.case_id}" if witness.case_id is not None else ""
    rows = plural(witness.rows, "case") if witness.rows else ""
    return ", ".join(part for part in (witness.role, case, rows, witness.note) if part)


def affected(finding: Finding) -> str:
    """Say how many cases a bug touches: ``78 cases, 32.5 % of support``; or that it touches none in support."""
    cases = plural(finding.affected, "case")
    if finding.share is None:
        return f"{cases}, outside support" if finding.affected else cases
    return f"{cases}, {percent(finding.share)} % of support"


def blocked_cases(run: Run) -> dict[str, int]:
    """Count the cases that never came to a field, by class."""
    return _blocked_cases(run.cases)


def _blocked_cases(cases: CaseCounts) -> dict[str, int]:
    return {name: getattr(cases, name) for name in BLOCKED_VERDICTS}


def case_lines(run: Run) -> tuple[str, ...]:
    """Say how many cases there are and what came of them: of each arm by itself, where there are any."""
    if not run.arms:
        return (_case_line(run.cases),)
    return tuple(f"arm {one.arm}: {_case_line(one.cases)}" for one in run.arms)


def _case_line(cases: CaseCounts) -> str:
    counts = _blocked_cases(cases)
    total = sum(counts.values())
    classes = f": {counted(counts)}" if total else ""
    unrelated = f" · {cases.unrelated:,} unrelated, ignored" if cases.unrelated else ""
    return f"{cases.expected:,} expected · {cases.judged:,} judged · {total:,} blocked{classes}{unrelated}"


def environment_parts(run: Run) -> dict[str, str]:
    """Name the parts of the base environment."""
    environment = run.environment
    parts = {
        "clock": environment.clock,
        "zone": environment.zone,
        "locale": environment.locale,
        "hash seed": str(environment.hash_seed),
    }
    return parts | ({"not fixed": ", ".join(environment.not_fixed)} if environment.not_fixed else {})


def title(run: Run) -> str:
    """Name a report: ``contracts: 7 bugs: 4 high, 2 medium, 1 info``."""
    return f"{run.name}: {bugs_line(run)}"
