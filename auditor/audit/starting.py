"""Starts the workers of every consumer. Imports little: they start their own imports while we go on with ours."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from typing import Self, TypeVar

from auditor.decode.payload_rows import PayloadKeys
from auditor.decode.session import Session, open_session
from auditor.decode.stop import Stop, Stopped
from auditor.errors import ConsumerError, ConsumerErrors
from auditor.spec.models import AuditSpec, ConsumerSpec

Result = TypeVar("Result")

#: Seconds that the other workers have to say what is wrong with them too, once one could not start.
OTHER_STARTS = 5.0


def wants_payload(consumer: ConsumerSpec) -> bool:
    """Say whether a consumer is to be asked with whole payloads."""
    has_payloads = consumer.adapter == "pydantic" or (consumer.adapter == "sql" and consumer.model is not None)
    return has_payloads and consumer.scope == "payload"


class Starting:
    """Workers that start side by side while their parent does something else; a context manager that ends them all.

    Whoever leaves it, by an interrupt or a mistake in the data, leaves no worker behind, ready or not. Nothing runs
    before it is entered: an interrupt between the two would leave threads that nobody ends. It may be entered again.
    """

    def __init__(self, spec: AuditSpec, consumers: Sequence[ConsumerSpec]) -> None:
        self._spec, self._consumers = spec, consumers
        self._carried: Future[tuple[frozenset[str] | None, PayloadKeys | None]] = Future()
        self._stop = Stop()
        self._pool = ThreadPoolExecutor(max(1, len(consumers)))
        self._ends = ExitStack()
        self._ends.callback(self._stop.close)
        self._ends.callback(self._end_starts)
        self._futures: dict[str, Future[Session]] = {}

    def _start(self, consumer: ConsumerSpec) -> Session:
        environment = self._spec.environment.environment()
        # What the cases carry matters only where payloads are read whole: no other worker waits for it.
        carried, keys = self._told_cases(consumer) if wants_payload(consumer) else (None, None)
        session = open_session(
            self._spec, consumer, environment, self._spec.fields, carried=carried, keys=keys, stop=self._stop
        )
        # Entered by the thread that starts it: an interrupt finds every worker either here or not yet ready.
        return self._ends.enter_context(session)

    def _told_cases(self, consumer: ConsumerSpec) -> tuple[frozenset[str] | None, PayloadKeys | None]:
        """Wait for what the cases carry, and import meanwhile what a model is read with."""
        if consumer.adapter == "sql":
            import auditor.decode.sql_model  # noqa: F401
        return self._carried.result()

    def tell(self, carried: frozenset[str] | None, keys: PayloadKeys | None) -> None:
        """Say what the cases carry, for which some workers wait; see `open_session`."""
        self._carried.set_result((carried, keys))

    def ready(self) -> dict[str, Session]:
        """Wait for all, once `tell` was called; where one cannot start, all are ended at once."""
        futures = list(self._futures.values())
        if wait(futures, return_when=FIRST_EXCEPTION).not_done:
            wait(futures, OTHER_STARTS)
            self._stop.set()
        failed = [error for future in futures if isinstance(error := future.exception(), ConsumerError)]
        if len(failed) > 1:
            raise ConsumerErrors(failed)
        return dict(zip(self._futures, results(futures), strict=True))

    def _end_starts(self) -> None:
        self._stop.set()
        self._carried.cancel()
        self._pool.shutdown()

    def close(self) -> None:
        """End all workers."""
        self._ends.close()

    def __enter__(self) -> Self:
        with ExitStack() as failed:
            failed.callback(self.close)
            for consumer in self._consumers:
                if consumer.name not in self._futures:
                    self._futures[consumer.name] = self._pool.submit(self._start, consumer)
            failed.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def results(futures: Sequence[Future[Result]]) -> list[Result]:
    """Give the results, or raise the first error that is not the end of what another's error stopped."""
    errors = [error for future in futures if (error := future.exception()) is not None]
    errors.sort(key=lambda error: isinstance(error, Stopped))
    if errors:
        raise errors[0]
    return [future.result() for future in futures]
