"""Adapter for services: a validation endpoint that says of each string what it makes of it.

``reads`` maps a field to the service's own name for it; ``service`` has the templates of a request and where the answer
holds what (`auditor/decode/service.py`). The service is not started by us: its clock, zone, locale and the rest are its
own, which the canary says. Each string has its own time-out here; what it costs, it costs alone. Where the service
fails on some strings, one that it has answered before is asked again: a service that fails there too is gone, and
nothing is said of strings any more.
"""

from __future__ import annotations

import hashlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from .answers import is_tagged, take
from .http_answer import Outcome, Reading, failed
from .http_request import Template, Unsendable
from .http_secrets import Secrets
from .http_service import WAITS, Late, NoAnswer, Service
from .program import decode_json
from .trouble import LONGEST, Broken, StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Tuple

#: Types whose fields hold strings as they are.
TEXTS = ("identifier", "category")

#: What each field is asked at the start, and the seconds that this may take.
FIRST = "0"
FIRST_SECONDS = 15.0

#: Strings that are asked for by each connection before it is looked whether the service lives: one that hangs is left
#: after so many time-outs. And so many failures, with no answer to any string yet, are a service that has failed.
ROUNDS = 8
MOST_FAILURES = 50

#: Bytes of a version that is shown whole; of a longer one the beginning, with a digest.
LONGEST_VERSION = 200

FAILED = "its service has failed"

#: Seconds after the last answer in which it is seen whether more comes: as long as answers took, within these.
SHORTEST_LOOK, LONGEST_LOOK = 0.1, 1.0

#: For messages: so much of a string is shown.
SHOWN = 60

#: Bytes of a thread's stack: the address space is limited, and the threads only wait.
STACK = 512 * 1024


class HttpAdapter:
    """One service; `moved` is told how many strings of a frame are done."""

    def __init__(self, config: "Dict[str, Any]") -> None:
        self.service = config["service"]
        self.secrets = Secrets(self.service["secrets"])
        self.kinds: "Dict[str, str]" = config["fields"]
        self.names: "Dict[str, str]" = config["reads"]
        self.as_json: bool = config["receives"] == "json"
        self.moved: "Callable[[int], None]" = lambda done: None
        headers = {name: self.secrets.fill(text) for name, text in self.service["headers"].items()}
        self.connection = Service(self.service, headers, config["timeout"], self.secrets.hide)
        self.reading = Reading(self.service, self.service["secrets"])
        self.templates = {
            field: Template(self.service, name, self.secrets, self.as_json) for field, name in self.names.items()
        }
        threading.stack_size(STACK)
        self.pool = ThreadPoolExecutor(self.service["concurrency"])
        self.good: "Optional[Tuple[str, str]]" = None
        self.failures, self.slowest = 0, 0.0
        self.version = ""
        self.begin()

    def begin(self) -> None:
        """Ask for the version, and each field for one string: what is wrong with all strings is said before any."""
        try:
            if "/" in self.service["version"]:
                self.version = self.version_at(self.service["version"])
            value = '"%s"' % FIRST if self.as_json else FIRST
            seconds = min(FIRST_SECONDS, self.connection.seconds)
            asked = [(field, self.pool.submit(self.ask, field, value, seconds)) for field in self.names]
            for field, future in asked:
                outcome = future.result()
                if not outcome.answered and outcome.at_start:
                    hint = "correct `url`, `request`, `value` or `rejected`, or look at the service's log"
                    raise StartError(self.tried(field, value), self.secrets.hide(outcome.content), hint)
                if outcome.answered and self.good is None:
                    self.good = field, value
        except Broken as error:
            hide = self.secrets.hide
            raise StartError(hide(error.tried), hide(error.seen), hide(error.hint)) from None

    def ready(self) -> "Dict[str, Any]":
        """Say what reads each field, and what is known of the service."""
        service = self.service
        shown = {field: "%s %s" % (service["method"], template.shown) for field, template in self.templates.items()}
        in_body = "{field}" not in service["url"]
        reads = {field: text + (" " + self.names[field] if in_body else "") for field, text in shown.items()}
        told = self.version or "not told: `version` can name where the service says it"
        parts = {
            name: service[name] for name in ("url", "method", "headers", "request", "value", "message", "rejected")
        }
        canary: "Dict[str, Any]" = {"clock": None, "offsets": [], "locale": "", "hash_seed": ""}
        return {
            "reads": reads,
            "version_parts": dict(parts, service=self.version),
            "settings": {"service": told},
            "canary": canary,
            "patience": self.connection.longest() + 2.0,
        }

    def decode_batch(self, field: str, values: "List[str]") -> "Tuple[List[Optional[str]], Dict[int, List[str]]]":
        """Decode texts, so many at a time; the answers are in the order of the texts."""
        try:
            outcomes = self.ask_all(field, values)
        except Broken as error:
            hide = self.secrets.hide
            raise Broken(hide(error.tried), hide(error.seen), hide(error.hint), error.what) from None
        known = [outcome.content if outcome.status == "value" else None for outcome in outcomes]
        if self.kinds[field] not in TEXTS:
            known = [without_tag(value) for value in known]
        texts, faults = take(known, self.kinds[field])
        for index, outcome in enumerate(outcomes):
            if outcome.status != "value":
                faults[index] = [outcome.status, self.secrets.hide(outcome.content)[:LONGEST]]
            elif texts[index] is not None and self.secrets.by_name:
                name = self.secrets.held_in(texts[index] or "")
                if name:
                    texts[index], faults[index] = None, ["crashed", "the answer holds the secret {env:%s}" % name]
        return texts, faults

    def ask_all(self, field: str, values: "List[str]") -> "List[Outcome]":
        """Ask for some strings; for all of them again, each on its own connection, where answers may be of others."""
        is_shared = len(values) > self.service["concurrency"]
        with self.connection.used_again(is_shared):
            outcomes = self.ask_in_rounds(field, values)
        if is_shared and self.connection.is_muddled(min(LONGEST_LOOK, SHORTEST_LOOK + 3 * self.slowest)):
            outcomes = self.ask_in_rounds(field, values)
        return outcomes

    def ask_in_rounds(self, field: str, values: "List[str]") -> "List[Outcome]":
        """Ask for some strings, a few rounds at a time; Broken where the service has failed meanwhile."""
        outcomes: "List[Outcome]" = []
        size = ROUNDS * self.service["concurrency"]
        for start in range(0, len(values), size):
            part = values[start : start + size]
            found = self.ask_side_by_side(field, part, start)
            for value, outcome in zip(part, found):  # noqa: B905 - no `strict` on Python 3.8
                if outcome.answered and len(value) < LONGEST:
                    self.good = field, value
                    break
            errors = [outcome.content for outcome in found if not outcome.answered]
            if errors:
                self.see_that_it_lives(field, part[0], errors)
            outcomes += found
        return outcomes

    def ask_side_by_side(self, field: str, values: "List[str]", done: int) -> "List[Outcome]":
        """Ask for some strings at one time; what ends the audit ends the rest of them."""
        futures = [self.pool.submit(self.ask, field, value) for value in values]
        outcomes: "List[Outcome]" = []
        try:
            for future in futures:
                outcomes.append(future.result())
                self.moved(done + len(outcomes))
        finally:
            for future in futures[len(outcomes) :]:
                future.cancel()
        return outcomes

    def ask(self, field: str, value: str, seconds: float = 0.0) -> Outcome:
        """Ask for one string."""
        tried = self.tried(field, value)
        try:
            url, body = self.templates[field].request(value)
            began = time.monotonic()
            answer = self.connection.send(url, body, tried, seconds=seconds, value="" if body is not None else value)
            self.slowest = max(self.slowest, time.monotonic() - began)
        except Unsendable as error:
            return Outcome("rejected", str(error))
        except NoAnswer as error:
            return failed(str(error))
        except Late as error:
            return Outcome("timed_out", str(error), answered=False)
        outcome = self.reading.outcome(answer, self.names[field], self.sent(value), tried)
        if outcome.answered:
            self.see_that_it_is_the_same(answer.headers, tried)
        return outcome

    def sent(self, value: str) -> "Any":
        """Give the value that was sent, where its acceptance is all that the service says."""
        return decode_json(value) if self.as_json and self.reading.value == "status" else value

    def tried(self, field: str, value: str) -> str:
        """Say what was asked, without what the secrets are."""
        text = value if len(value) <= SHOWN else value[:SHOWN] + "…"
        return "ask %s %s for %s: %r" % (self.service["method"], self.templates[field].shown, field, text)

    def see_that_it_lives(self, field: str, value: str, errors: "List[str]") -> None:
        """Ask again for what the service has answered before; Broken where it fails there too, or always has."""
        hint = "look at the service's log, and run again"
        if self.good is None:
            self.failures += len(errors)
            if self.failures >= MOST_FAILURES:
                seen = "no answer to any of %d strings, the last: %s" % (self.failures, errors[-1])
                raise Broken(self.tried(field, value), seen, hint, FAILED)
            return
        for wait in (0.0, *WAITS):
            time.sleep(wait)
            outcome = self.ask(*self.good)
            if outcome.answered:
                return
        seen = "%s; and now, for a string that it has answered before: %s" % (errors[-1], outcome.content)
        raise Broken(self.tried(*self.good), seen, hint, FAILED)

    def see_that_it_is_the_same(self, headers: "Dict[str, str]", tried: str) -> None:
        """Compare the version in an answer with the first one; Broken where it is another."""
        name = self.service["version"]
        if not name or "/" in name:
            return
        told = self.secrets.hide(headers.get(name.lower(), ""))[:LONGEST]
        if not told:
            raise Broken(tried, "the answer has no header " + name, "correct `version`", "its version is not known")
        self.version = self.version or told
        if told != self.version:
            seen = "%s was %s and is %s" % (name, self.version, told)
            raise Broken(tried, seen, "it was deployed anew in the middle: run again", "its service has changed")

    def version_at(self, url: str) -> str:
        """Give what the service says at the url of its version."""
        tried = "ask GET %s for the version" % url
        try:
            answer = self.connection.send(url, None, tried, method="GET")
        except (NoAnswer, Late) as error:
            raise StartError(tried, str(error), "correct `version`") from None
        self.reading.see_that_it_serves(answer, tried)
        if not 200 <= answer.status < 300 or not answer.text or answer.trouble:
            raise StartError(tried, self.secrets.hide(answer.seen), "correct `version`")
        digest = hashlib.sha256(answer.body).hexdigest()[:16] if len(answer.body) > LONGEST_VERSION else ""
        return self.secrets.hide(" ".join(filter(None, (answer.text, digest))))


def without_tag(value: "Any") -> "Any":
    """Give a value of a field that holds no texts: a service knows no tags, so what looks like one is a text."""
    return "text:" + value if type(value) is str and is_tagged(value) else value


def open_adapter(config: "Dict[str, Any]") -> HttpAdapter:
    """Connect to the service and hear what it says of each field."""
    return HttpAdapter(config)
