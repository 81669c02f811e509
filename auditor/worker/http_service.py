"""A service and the connections to it: requests with limits of time and size, sent again only where none answers.

httpx is imported here when a service is opened, in the auditor's own interpreter; nothing of it is taken from the
environment: no proxy, no certificates, no password file.
"""

from __future__ import annotations

import ssl
import time
from contextlib import contextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from urllib.parse import unquote, unquote_plus

from .http_answer import Answer
from .http_connections import Connections, transport_over
from .http_request import Unsendable
from .trouble import Broken, StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, Optional

#: Bytes of the longest answer.
LONGEST_ANSWER = 10 * 1024 * 1024

#: Seconds before a request is sent again: what restarts a service takes a moment.
WAITS = (0.2, 1.0)

MOST_REDIRECTS = 5
REDIRECTS = (301, 302, 303, 307, 308)


class Late(Exception):
    """No answer in time."""


class NoAnswer(Exception):
    """A connection that was closed without an answer, as often as was tried."""


def import_httpx() -> "Any":
    """Give httpx; StartError names the extra where it is not installed."""
    try:
        return __import__("httpx")
    except ImportError as error:
        hint = "pip install 'fidelity-auditor[http]', in the auditor's own environment"
        raise StartError("import httpx, which asks services", "%s" % error, hint) from error


def trust_in(file: "Optional[str]", httpx: "Any") -> "Any":
    """Give the context of TLS that checks certificates: against the authorities of a file, else the public ones."""
    if file is None:
        return httpx.create_ssl_context(verify=True, trust_env=False)
    try:
        return ssl.create_default_context(cafile=file)
    except (OSError, ssl.SSLError) as error:
        hint = "`ca` names a file that has the authority's certificate in PEM form: -----BEGIN CERTIFICATE-----"
        raise StartError("read the certificates in " + file, str(error), hint) from error


class Service:
    """The service of one consumer; safe for as many threads as it has connections."""

    def __init__(self, service: "Dict[str, Any]", headers: "Dict[str, str]", seconds: float, hide: "Any") -> None:
        self.httpx = import_httpx()
        self.method, self.seconds, self.hide = service["method"], seconds, hide
        self.tries, self.follows = 1 + service["retries"], service["redirects"]
        httpcore = __import__("httpcore")
        self.connections, self.reuses, self.was_muddled = Connections(httpcore), False, False
        trust = trust_in(service["ca"], self.httpx)
        self.client = self.httpx.Client(
            headers={"user-agent": "fidelity-auditor", "accept": "application/json, */*", **headers}
            | {"accept-encoding": "identity"},
            transport=transport_over(self.connections, self.httpx, httpcore, service["concurrency"], trust),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),  # no string is asked in the session of another
            trust_env=False,
            follow_redirects=False,
        )

    def longest(self) -> float:
        """Give the seconds that `send` takes at most, but for headers that come one by one and have no end."""
        waits: float = sum(wait_before(attempt) for attempt in range(1, self.tries))
        return float(self.tries * self.seconds + waits)

    @contextmanager
    def used_again(self, is_wanted: bool) -> "Iterator[None]":
        """Use connections for several requests meanwhile, unless the service has sent what nobody asked for before."""
        self.reuses = is_wanted and not self.connections.is_muddled
        try:
            yield
        finally:
            self.reuses = False

    def is_muddled(self, seconds: float) -> bool:
        """Say whether the service has sent answers that nobody asked for since then, waiting a moment for them.

        All connections are closed. Called while no request is under way.
        """
        was_muddled = self.was_muddled
        if not was_muddled:
            time.sleep(seconds)
            self.connections.close()
            self.was_muddled = self.connections.is_muddled
        return self.was_muddled and not was_muddled

    def send(
        self, url: str, body: "Optional[bytes]", tried: str, method: str = "", seconds: float = 0.0, value: str = ""
    ) -> Answer:
        """Give the answer to a request; `value` is what its url has to keep where it is redirected.

        Raises Late where there is none in time, NoAnswer where the connection is closed each time, Broken where there
        is nobody to connect to, Unsendable where the url is too long.
        """
        httpx, limit = self.httpx, seconds or self.seconds
        headers = {"content-type": "application/json"} if body is not None else {}
        if not self.reuses:
            headers["connection"] = "close"
        for attempt in range(self.tries):
            if attempt:
                time.sleep(wait_before(attempt))
            try:
                request = self.client.build_request(
                    method or self.method, url, content=body, headers=headers, timeout=limit
                )
                return self.follow(request, time.monotonic() + limit, tried, value)
            except httpx.InvalidURL as error:
                raise Unsendable("cannot be sent in a url: %s" % error) from None
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                last = error
            except httpx.TimeoutException:
                raise Late("no answer within %g s" % limit) from None
            except httpx.TransportError as error:
                last = error
        times = "once" if self.tries == 1 else "%d times" % self.tries
        if isinstance(last, (httpx.ConnectError, httpx.ConnectTimeout)):
            raise Broken(
                tried, "no connection, tried %s: %s" % (times, last), hint_of(last), "its service is not there"
            )
        raise NoAnswer("the service closed the connection without a whole answer, %s: %s" % (times, last)) from None

    def follow(self, request: "Any", until: float, tried: str, value: str) -> Answer:
        """Send a request, and what it is redirected to where that is wanted: on the same host, with the same method."""
        for _ in range(MOST_REDIRECTS):
            response = self.client.send(request, stream=True)
            try:
                if not getattr(response.extensions.get("network_stream"), "is_fresh", True):
                    self.connections.is_muddled = True  # this answer was there before its question
                answer = self.read(response, until)
                after = response.next_request
            finally:
                response.close()
            if not self.follows or answer.status not in REDIRECTS or after is None:
                return answer
            if origin(after.url) != origin(request.url):
                hint = "nothing is sent to another host, secrets least of all: correct `url`"
                raise Broken(
                    tried,
                    "%s to %s://%s" % (answer.line, after.url.scheme, after.url.netloc.decode()),
                    hint,
                    "its service is elsewhere",
                )
            if after.method != request.method:
                seen = "%s, which turns %s into %s" % (answer.line, request.method, after.method)
                raise Broken(
                    tried, seen, "the value would be lost on the way: correct `url`", "its service is elsewhere"
                )
            if value not in unquote(str(after.url)) and value not in unquote_plus(str(after.url)):
                answer.trouble = "it redirects to %s, which has lost the value" % self.hide(after.url.path)
                return answer
            request = after
        raise Broken(tried, "more than %d redirects" % MOST_REDIRECTS, "correct `url`", "its service is elsewhere")

    def read(self, response: "Any", until: float) -> Answer:
        """Read an answer of bounded size, in the time that is left."""
        headers = {name.lower(): text for name, text in response.headers.items()}
        if headers.get("content-encoding", "identity") != "identity":
            return Answer(
                response.status_code, headers, b"", "its body is compressed, which was not asked for", self.hide
            )
        body = bytearray()
        for part in self.parts(response):
            if part is None:
                return Answer(response.status_code, headers, bytes(body), "its body was cut off", self.hide)
            body += part
            if len(body) > LONGEST_ANSWER:
                trouble = "an answer of more than %d MiB" % (LONGEST_ANSWER // 1024 // 1024)
                return Answer(response.status_code, headers, bytes(body[:1000]), trouble, self.hide)
            if time.monotonic() > until:
                raise self.httpx.ReadTimeout("the answer does not end")
        return Answer(response.status_code, headers, bytes(body), "", self.hide)

    def parts(self, response: "Any") -> "Iterator[Optional[bytes]]":
        """Give the parts of a body; None where it is cut off after a status that has said what it is to say.

        Were that sent again, a refusal could end as an acceptance.
        """
        try:
            yield from response.iter_raw()
        except self.httpx.TimeoutException:
            raise
        except self.httpx.TransportError:
            if 200 <= response.status_code < 300:
                raise
            yield None


def wait_before(attempt: int) -> float:
    """Give the seconds before a request is sent for the second time (1), the third, and so on."""
    return WAITS[min(attempt, len(WAITS)) - 1]


def origin(url: "Any") -> "Any":
    """Give what makes two urls the same host."""
    return url.scheme, url.host, url.port


def hint_of(error: BaseException) -> str:
    """Say what to do where nobody answers."""
    text = str(error)
    if "CERTIFICATE" in text:
        return "it is checked always, for the host in `url`; the file of a private authority is named by `ca`"
    if "SSL" in text:
        return "it does not speak TLS: is it http:// ?"
    if "Name or service" in text or "name resolution" in text or "nodename" in text:
        return "correct the host in `url`"
    return "start the service, or correct `url`, and run again"
