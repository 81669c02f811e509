"""Which line's clock read moves a value: proven by changing the clock of that line alone.

That a parser reads the clock is no finding: dateutil reads it for every string, harmlessly for most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from auditor.decode.clock import reads_clock_elsewhere
from auditor.decode.session import Session
from auditor.model.dependence import Answer, Mover, Place, Site, Watch
from auditor.model.environment import Environment
from auditor.probe.environments import CLOCKS
from auditor.probe.launch import Launcher, decode_some
from auditor.probe.phases import CODE_OF, Chosen, choose
from auditor.probe.questions import Question

#: Strings of a field whose line is looked for; the others that move with the clock are of the same kinds.
MOST_ATTRIBUTED = 2000


def attribute(launcher: Launcher, questions: Mapping[str, Question], movers: Sequence[Mover]) -> list[Mover]:
    """Give the movers, those that the clock moves with the line that is to blame."""
    by_clock = [mover for mover in movers if mover.code == CODE_OF["clock"]]
    places = {mover.place for mover in by_clock[:: max(1, -(-len(by_clock) // MOST_ATTRIBUTED))]}
    if not places:
        return list(movers)
    by_field: dict[str, list[tuple[int, int]]] = {}
    for name, *at in sorted(places):
        by_field.setdefault(name, []).append((at[0], at[1]))
    chosen = choose(questions, by_field)
    proven, candidates = _sites_of(launcher, chosen)
    return [
        replace(mover, site=proven.get(mover.place), candidates=candidates)
        if mover.code == CODE_OF["clock"] and mover.place in places
        else mover
        for mover in movers
    ]


def _sites_of(launcher: Launcher, chosen: Chosen) -> tuple[dict[Place, Site], tuple[Site, ...]]:
    """Give the line that moves each place, or the lines that may where none can be watched alone."""
    if reads_clock_elsewhere(launcher.consumer):
        return {}, ()

    def ask(session: Session, environment: Environment) -> tuple[dict[Place, Answer], tuple[Site, ...], bool]:
        decoded = decode_some(launcher, session, environment, chosen.questions, chosen.sent)
        return chosen.answers(decoded), session.sites(), session.candidates_only

    recorded = [result for _, result in launcher.watched([Watch()], ask)]
    if not recorded:
        return {}, ()
    base, sites, candidates_only = recorded[0]
    if candidates_only:
        return {}, sites
    proven: dict[Place, Site] = {}
    for clock in CLOCKS:  # an early and a late one first: between them they move all but a few
        if len(proven) == len(base):
            break
        for watch, (answers, _, _) in launcher.watched([Watch(site, clock) for site in sites], ask):
            for place, answer in answers.items():
                if watch.site is None or "t" in (answer.letter, base[place].letter) or answer.is_as(base[place]):
                    continue
                proven.setdefault(place, replace(watch.site, proven=True, reads=0))
    return proven, ()
