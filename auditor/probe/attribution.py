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
from auditor.probe.launch import READING_LINE, Launcher, decode_some
from auditor.probe.phases import CODE_OF, Chosen, choose, is_another
from auditor.probe.questions import Question

#: Strings of a field whose line is looked for; the others that move with the clock are of the same kinds.
MOST_ATTRIBUTED = 2000


#: Lines that are tried one by one, each in a process of its own for every clock.
MOST_SITES = 16

#: What one launch gives: the answers, the lines that read the clock, and whether those can only be candidates.
_Watched = tuple[dict[Place, Answer], tuple[Site, ...], bool]


def attribute(launcher: Launcher, questions: Mapping[str, Question], movers: Sequence[Mover]) -> list[Mover]:
    """Give the movers, those that the clock moves with the line that is to blame."""
    by_clock = [mover for mover in movers if mover.code == CODE_OF["clock"]]
    places = {mover.place for mover in by_clock[:: max(1, -(-len(by_clock) // MOST_ATTRIBUTED))]}
    if not places:
        return list(movers)
    by_field: dict[str, list[Place]] = {}
    for place in sorted(places):
        by_field.setdefault(place[0], []).append(place)
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

    recorded = _watched(launcher, chosen, [Watch()])
    if not recorded:
        return {}, ()
    _, (base, sites, candidates_only) = recorded[0]
    if candidates_only:
        return {}, sites
    if len(sites) > MOST_SITES:
        launcher.not_varied.setdefault(READING_LINE, f"{len(sites)} lines read it, {MOST_SITES} of them were tried")
    proven: dict[Place, Site] = {}
    for clock in CLOCKS:  # an early and a late one first: between them they move all but a few
        left = chosen.without(proven)
        if not left:
            break
        for watch, (answers, _, _) in _watched(launcher, left, [Watch(site, clock) for site in _likeliest(sites)]):
            for place, answer in answers.items():
                if watch.site is not None and is_another(base[place], answer):
                    proven.setdefault(place, replace(watch.site, proven=True, reads=0))
    return proven, ()


def _watched(launcher: Launcher, chosen: Chosen, watches: Sequence[Watch]) -> list[tuple[Watch, _Watched]]:
    """Ask for the chosen strings with the clock reads watched."""

    def ask(session: Session, environment: Environment) -> _Watched:
        decoded = decode_some(launcher, session, environment, chosen.questions, chosen.sent)
        return chosen.answers(decoded), session.sites(), session.candidates_only

    return list(launcher.watched(watches, ask))


def _likeliest(sites: Sequence[Site]) -> Sequence[Site]:
    """Choose as many lines as are tried: those that read most often, then those of imports."""
    return sorted(sites, key=lambda site: -site.reads)[:MOST_SITES] if len(sites) > MOST_SITES else sites
