"""What an answer of a service says of the string: a value, a null, a rejection, or that the service failed."""

from __future__ import annotations

import json
from http.client import responses

from .program import Number, no_constant
from .trouble import Broken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Sequence, Tuple

#: For messages: so many characters of an answer are shown.
SHOWN = 300

#: Bytes of an answer that are looked at for that.
LOOKED_AT = 64 * 1024

#: What a proxy says where there is no service behind it.
NOBODY_THERE = (502, 503, 504)

REFUSED = "its service refuses to be asked"

#: Successes that do not say that the string is accepted: it is looked at later, in parts, or the body has the verdict.
UNDECIDED = (202, 206, 207, 208, 226)


#: Members of a body that say whether a value is accepted, and those that say what is wrong with it.
TRUTHS = ("valid", "is_valid", "isValid", "ok", "success", "accepted")
ERRORS = ("error", "errors")


class Twice:
    """What stands at a key that an object has more than once: which of them counts, parsers do not agree on."""


def members_of(pairs: "Sequence[Tuple[str, Any]]") -> "Dict[str, Any]":
    """Give the members of an object, with those told that stand there more than once."""
    members = dict(pairs)
    if len(members) < len(pairs):
        for key in members:
            if sum(name == key for name, _ in pairs) > 1:
                members[key] = Twice()
    return members


decode_once = json.JSONDecoder(
    parse_float=Number, parse_int=Number, parse_constant=no_constant, object_pairs_hook=members_of
).decode


class Answer:
    """Status, headers (lower case) and body of an answer; `hide` takes the secrets out of what is shown of it.

    It does so before anything is cut: the half of a secret is one, too.
    """

    def __init__(
        self, status: int, headers: "Dict[str, str]", body: bytes, trouble: str, hide: "Callable[[str], str]"
    ) -> None:
        self.status, self.headers, self.body, self.trouble, self.hide = status, headers, body, trouble, hide

    @property
    def line(self) -> str:
        """Give the status with its phrase."""
        return ("HTTP %d %s" % (self.status, responses.get(self.status, ""))).rstrip()

    @property
    def text(self) -> str:
        """Give the start of the body on one line."""
        text = " ".join(self.hide(self.body[:LOOKED_AT].decode("utf-8", "replace")).split())
        return text if len(text) <= SHOWN else text[:SHOWN] + "…"

    @property
    def seen(self) -> str:
        """Give status and the start of the body."""
        return self.line + (": " + self.text if self.text else "")

    def document(self) -> "Any":
        """Parse the body; ValueError says why it is no JSON."""
        try:
            return decode_once(self.body.decode("utf-8-sig"))
        except RecursionError:
            raise ValueError("it is nested too deeply") from None


class Outcome:
    """What became of one string: `status` of a decoding, with its value or its error.

    `answered`: the service has said what it makes of the string. `at_start`: what it says stops an audit at its start.
    """

    def __init__(self, status: str, content: "Any", answered: bool = True, at_start: bool = True) -> None:
        self.status, self.content, self.answered, self.at_start = status, content, answered, at_start


class Reading:
    """How the answers of a service are read, as the spec says."""

    def __init__(self, service: "Dict[str, Any]", secrets: "List[str]") -> None:
        self.value: str = service["value"]
        self.message: "str | None" = service["message"]
        self.rejected: "List[int]" = service["rejected"]
        self.secrets = secrets

    def outcome(self, answer: Answer, name: str, sent: "Any", tried: str) -> Outcome:
        """Read an answer for a string that was sent; Broken where it refuses whoever asks."""
        self.see_that_it_serves(answer, tried)
        if answer.trouble:
            return failed(answer.line + ": " + answer.trouble)
        if answer.status in self.rejected:
            outcome = self.rejection(answer, name)
            if outcome is not None:
                return outcome
        if 200 <= answer.status < 300:
            is_read = answer.status in self.rejected  # the spec says what in the body is an error, and there is none
            return accepted(answer, sent, is_read) if self.value == "status" else self.value_in(answer, name)
        if answer.status >= 500:
            return failed("the service failed: " + answer.seen, answer.status in NOBODY_THERE)
        if 300 <= answer.status < 400:
            where = answer.hide(answer.headers.get("location", ""))[:SHOWN]
            return failed("%s to %s: redirects are not followed; correct `url`" % (answer.line, where or "nowhere"))
        return failed(answer.seen + "; neither accepted (2xx) nor one of `rejected`")

    def see_that_it_serves(self, answer: Answer, tried: str) -> None:
        """Raise Broken for the statuses that say nothing of the string."""
        if answer.status in (401, 403, 407):
            named = " and ".join(self.secrets)
            hint = "check the value of " + named if named else 'headers = { Authorization = "Bearer {env:API_TOKEN}" }'
            raise Broken(tried, answer.seen, "it refuses the credentials: " + hint, REFUSED)
        if answer.status == 429:
            after = answer.hide(answer.headers.get("retry-after", ""))[:SHOWN]
            hint = "it limits how fast it is asked: lower `concurrency`"
            hint += "; it will answer again after %s" % (after + " s" if after.isdecimal() else after) if after else ""
            raise Broken(tried, answer.seen, hint, REFUSED)

    def rejection(self, answer: Answer, name: str) -> "Outcome | None":
        """Read an answer whose status may mean a rejection; None where it is an acceptance all the same."""
        if self.message is None:
            return Outcome("rejected", answer.seen)
        try:
            found = at_path(answer.document(), self.message, name)
        except (ValueError, LookupError) as error:
            is_told = isinstance(error, NotInElement) and self.value == "status"  # and no value that would deny it
            if 200 <= answer.status < 300 and isinstance(error, NothingThere) and not is_told:
                return None
            return failed("%s, which is no rejection without %s (%s)" % (answer.seen, self.message, error))
        if 200 <= answer.status < 300 and says_nothing(found):
            return None
        return Outcome("rejected", found if isinstance(found, str) and type(found) is not Number else as_json(found))

    def value_in(self, answer: Answer, name: str) -> Outcome:
        """Take the value out of an answer that accepts the string."""
        try:
            found = at_path(answer.document(), self.value, name)
        except ValueError as error:
            return failed("%s, which is no JSON (%s)" % (answer.seen or "an empty answer", error))
        except LookupError as error:
            return failed("%s, which has no value at %s (%s)" % (answer.seen, self.value, error))
        if found is None:
            return Outcome("null", "null")
        return value_or_fault(found)


def accepted(answer: Answer, sent: "Any", is_read: bool) -> Outcome:
    """Read an answer whose status alone says that a string is accepted; its value is what was sent."""
    if answer.status in UNDECIDED:
        return failed("%s, which does not say that the value is accepted: name a path as `value`" % answer.seen)
    denial = "" if is_read else denial_in(answer)
    if denial:
        hint = "add %d to `rejected` and name the path of its error as `message`" % answer.status
        return failed("%s, whose status accepts what its %s denies: %s" % (answer.seen, denial, hint))
    return Outcome("null", "null") if sent is None else value_or_fault(sent)


def denial_in(answer: Answer) -> str:
    """Give the member of a body that denies what the status says; nothing where it has none."""
    try:
        document = answer.document()
    except ValueError:
        return ""
    for name, found in document.items() if isinstance(document, dict) else ():
        denies = found is False if name in TRUTHS else name in ERRORS and not says_nothing(found)
        if denies or (isinstance(found, Twice) and name in (*TRUTHS, *ERRORS)):
            return str(name)
    return ""


def value_or_fault(found: "Any") -> Outcome:
    """Give a value; an array or an object is none of any field."""
    if isinstance(found, (dict, list)):
        return Outcome("rejected", "unexpected type: an " + ("array" if isinstance(found, list) else "object"))
    return Outcome("value", found)


def says_nothing(found: "Any") -> bool:
    """Say whether what stands where an error would stand says that there is none: null, false, 0 or something empty."""
    return not found or (type(found) is Number and not found.strip("-+.0eE"))


class NothingThere(LookupError):
    """A path that ends where nothing is said: a key that lacks, or a parent that is null or empty."""


class NotInElement(NothingThere):
    """A path into an element of a list, which is there and lacks the key."""


def failed(error: str, at_start: bool = True) -> Outcome:
    """Give the outcome of a string on which the service failed."""
    return Outcome("crashed", error, answered=False, at_start=at_start)


def at_path(document: "Any", path: str, name: str) -> "Any":
    """Give what is at a dotted path, in which {field} is the service's name of the field; LookupError says what lacks.

    NothingThere where that comes to nothing being said there; what stands there and has no members says something.

    >>> at_path({"detail": [{"msg": "no date"}]}, "detail.0.msg", "due")
    'no date'
    """
    found, in_list = document, False
    for step in steps_of(path):
        key = name if step == "{field}" else step
        if isinstance(found, dict):
            if key not in found:
                raise (NotInElement if in_list else NothingThere)("there is no %r" % key)
            found = found[key]
        elif isinstance(found, list) and key.isascii() and key.isdecimal() and len(key) < 10:
            if int(key) >= len(found):
                raise NothingThere("there are %d, and no number %s" % (len(found), key))
            found, in_list = found[int(key)], True
        else:
            kind = NothingThere if says_nothing(found) else LookupError
            raise kind("%r stands in something that has no members" % key)
        if isinstance(found, Twice):
            raise LookupError("there is more than one %r" % key)
    return found


def steps_of(path: str) -> "List[str]":
    """Give the steps of a path; a dot before it changes nothing but that it is never the word `status`."""
    rest = path[1:] if path.startswith(".") else path
    return rest.split(".") if rest else []


def as_json(value: "Any") -> str:
    """Write a message that is no text; its numbers are texts here."""
    return json.dumps(value, ensure_ascii=False, default=lambda _: "(more than one)")
