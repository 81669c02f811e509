"""What phase 1 of the probes costs: ``python tests/benchmarks/probes.py [strings] [rounds]``.

CPU time of parent and workers for the base launch and the five launches of phase 1, comparisons included, against
the base launch alone, on the same distinct strings. The goal is at most 6 x: six launches. The last figure has the base
in the same company as the probes, two launches side by side: cores that share a cache take more CPU time for the same
work then, which is no work of the probes.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from transport import amounts, dates, spec_in, timed

from auditor.decode.session import open_session
from auditor.decode.stop import Stop
from auditor.load.tokens import string_token
from auditor.model.decoding import Decodings
from auditor.probe.changes import Moved, phase_one
from auditor.probe.environments import course_of
from auditor.probe.launch import Launcher
from auditor.probe.questions import Question
from auditor.probe.sent import Sent
from auditor.spec.models import AuditSpec


def decode(spec: AuditSpec, field: str, tokens: Sequence[str]) -> Decodings:
    """Decode everything in one supervised launch of the base."""
    consumer = next(iter(spec.consumers.values()))
    with open_session(spec, consumer, spec.environment.environment(), spec.fields) as session:
        return session.decode(field, tokens)


def side_by_side(spec: AuditSpec, field: str, tokens: Sequence[str]) -> None:
    """Decode everything in two launches of the base at a time."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: decode(spec, field, tokens), range(2)))


def probe(spec: AuditSpec, field: str, tokens: list[str], base: Decodings) -> Moved:
    """Run the five launches of phase 1."""
    consumer = next(iter(spec.consumers.values()))
    environment = spec.environment.environment()
    question = Question(spec.fields[field], 1, lambda _: Sent(tokens), lambda _: base)
    stop = Stop()
    with ThreadPoolExecutor(2) as pool:
        launcher = Launcher(spec, consumer, environment, None, None, pool, stop)
        course = course_of(environment, {}, "full")
        return phase_one(launcher, {field: question}, environment, course.everything)


def main(strings: int, rounds: int) -> None:
    """Print the ratio for a slow and a fast parser."""
    with tempfile.TemporaryDirectory() as folder:
        spec = spec_in(Path(folder))
        for field, texts in (("date", dates(strings)), ("amount", amounts(strings))):
            tokens = [string_token(text) for text in texts]
            base = decode(spec, field, tokens)
            ratios, in_company = [], []
            for _ in range(rounds):
                alone = timed(partial(decode, spec, field, tokens))
                beside = timed(partial(side_by_side, spec, field, tokens)) / 2
                probed = timed(partial(probe, spec, field, tokens, base))
                ratios.append(1 + probed / alone)
                in_company.append(1 + probed / beside)
            moved = probe(spec, field, tokens, base)
            count = sum(map(moved.places.count, moved.places.fields))
            print(
                f"{field}: {statistics.median(ratios):.2f} x median, {min(ratios):.2f} x least of {rounds}"
                f" ({len(tokens):,} strings, {count:,} moved), {statistics.median(in_company):.2f} x in company"
            )


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    main(*[*numbers, *(50_000, 3)[len(numbers) :]])
