"""What supervised decoding costs beyond the bare parser: ``python tests/benchmarks/transport.py [strings] [rounds]``.

CPU time of the auditor and its worker together, less the start of a worker, against the same loop in one process;
bare and supervised runs alternate. The least of several is what a shared machine disturbs least. Goals: dateutil at
most 1.10 x, Decimal at most 1.0 us.
"""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from auditor.decode.session import open_session  # noqa: E402
from auditor.spec.models import AuditSpec, CasesSpec, ConsumerSpec, FieldSpec  # noqa: E402

PARSERS = """
from decimal import Decimal
from dateutil import parser

def read_date(text):
    return parser.parse(text).date()

def read_amount(text):
    return Decimal(text)
"""

SHAPES = ("%Y-%m-%d", "%B %d, %Y", "%d %B %Y", "%d %b %Y", "%m/%d/%Y", "%Y-%m-%dT00:00:00Z")


def cpu() -> float:
    """Give CPU seconds of this process and of the children that it has reaped."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def timed(work: Callable[[], object]) -> float:
    """Give the CPU seconds of one call."""
    start = cpu()
    work()
    return cpu() - start


def dates(count: int) -> list[str]:
    """Make distinct dates in six shapes, one in 25 junk."""
    day = date(1900, 1, 1)
    texts = [(day + timedelta(days=n // 6)).strftime(SHAPES[n % 6]) for n in range(count)]
    return [f"not stated {n}" if n % 25 == 0 else text for n, text in enumerate(texts)]


def amounts(count: int) -> list[str]:
    """Make distinct amounts."""
    return [f"{n * 7 % 10_000_000}.{n % 100:02d}" for n in range(count)]


def spec_in(folder: Path) -> AuditSpec:
    """Write the consumer and describe it."""
    (folder / "bench_parsers.py").write_text(PARSERS)
    reads = {"date": "bench_parsers:read_date", "amount": "bench_parsers:read_amount"}
    return AuditSpec(
        name="transport",
        file=folder / "audit.toml",
        folder=folder,
        cases=CasesSpec(predictions=("-",), references=("-",)),
        fields={"date": FieldSpec(name="date", type="date"), "amount": FieldSpec(name="amount", type="decimal")},
        consumers={"bench": ConsumerSpec(name="bench", adapter="python", reads=reads)},
    )


def measure(spec: AuditSpec, field: str, texts: list[str], parse: Callable[[str], object], rounds: int) -> None:
    """Print the ratio and the difference for one parser."""
    tokens = [f'"{text}"' for text in texts]

    def bare() -> None:
        for text in texts:
            try:  # noqa: SIM105 - a context manager costs as much as the parser
                parse(text)
            except ValueError:
                pass

    def supervised(values: list[str]) -> None:
        environment = spec.environment.environment()
        with closing(open_session(spec, spec.consumers["bench"], environment, spec.fields)) as session:
            session.decode(field, values)

    runs = [(timed(bare), timed(lambda: supervised([])), timed(lambda: supervised(tokens))) for _ in range(rounds)]
    for name, choose in (("median", statistics.median), ("least", min)):
        plain, start, whole = (choose(column) for column in zip(*runs, strict=True))
        print(
            f"{field}, {name} of {rounds}: {len(texts)} strings, bare {plain / len(texts) * 1e6:.2f} us, supervised "
            f"{(whole - start) / plain:.3f} x ({whole / plain:.3f} x with the start of {start * 1000:.0f} ms), "
            f"{(whole - start - plain) / len(texts) * 1e6:.2f} us beyond the bare call"
        )


def main() -> None:
    """Measure a slow and a fast parser."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory() as folder:
        spec = spec_in(Path(folder))
        sys.path.insert(0, folder)
        import bench_parsers

        measure(spec, "amount", amounts(2 * count), bench_parsers.read_amount, rounds)
        measure(spec, "date", dates(count), bench_parsers.read_date, rounds)


if __name__ == "__main__":
    main()
