"""Adapter that asks nothing of a program's parsers and everything of its protocol: `auditor consumer check`.

`ready` carries ``checks``: [case, seen, to do] each, `seen` empty where all is well. A program that ends is started
again for the next case, so that one mistake hides no other.
"""

from __future__ import annotations

from .answers import STATUS_OF
from .process_adapter import START, VERSION, checked, is_number, is_refusal, start_program
from .program import Program, decode_json, line_of, shown
from .trouble import Broken, Ended

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Tuple

#: Seconds for an answer, for one to the long string, for the end of a program that is told to stop, and for what it
#: might add unasked.
CASE = 20.0
LONG_CASE = 100.0
STOP = 5.0
QUIET = 0.3

MANY = 5000
LONG = 10 * 1024 * 1024

#: Strings that documents have and that programs trip over.
SAMPLE = ["2024-03-01", "March 1, 2024", "1,234.50 EUR", "12.5", "true", "N/A", "-", "0", "null", "01/03/2024"]


class Wrong(Exception):
    """A case that the program fails: what was seen."""


class Conversation:
    """A program to ask, line by line; started when it is needed."""

    def __init__(self, config: "Dict[str, Any]") -> None:
        self.config = config
        self.program: "Any" = None
        self.told: "Dict[str, Any]" = {}
        self.number = 0

    def begin(self) -> Program:
        """Give the running program; start and greet one where there is none."""
        if self.program is None:
            self.program = start_program(self.config)
            names = sorted(set(self.config["reads"].values()))
            instants = [int(instant * 1000 // 1) for instant in self.config["instants"]]
            line = self.lines([line_of({"start": VERSION, "fields": names, "instants": instants})])[0]
            try:
                self.told = checked(decode_json(line.decode("utf-8")))
            except (ValueError, RecursionError) as error:
                raise Wrong("it answered the start line with %s: %s" % (shown(line), error)) from None
        program: Program = self.program
        return program

    def lines(self, lines: "List[bytes]") -> "List[bytes]":
        """Send lines and give the answers; Wrong where they do not come."""
        seconds = (CASE if max(map(len, lines)) < LONG else LONG_CASE) if self.told else START
        try:
            return self.begin().converse(lines, seconds)
        except TimeoutError:
            raise Wrong("no line came back within %d s: was it flushed?" % seconds) from None
        except Ended as error:
            raise Wrong("it ended: " + str(error.args[0])) from None
        except (Broken, MemoryError) as error:
            raise Wrong(str(error)) from None

    def field(self) -> str:
        """Give a name that the program reads."""
        self.begin()
        wanted = [name for name in self.config["reads"].values() if name in self.told["reads"]]
        return str((wanted or self.told["reads"])[0])

    def message(self, values: "List[str]", **others: "Any") -> "Dict[str, Any]":
        """Give the next read message."""
        self.number += 1
        return dict({"read": self.field(), "id": self.number, "values": values}, **others)

    def read(self, values: "List[str]", **others: "Any") -> "List[Any]":
        """Ask for some values and give as many answers."""
        return self.read_all([self.message(values, **others)])[0]

    def read_all(self, messages: "List[Dict[str, Any]]") -> "List[List[Any]]":
        """Send all messages before the first answer is waited for."""
        lines = self.lines([line_of(message) for message in messages])
        return [self.answers(line, message) for line, message in zip(lines, messages)]  # noqa: B905

    def answers(self, line: bytes, message: "Dict[str, Any]") -> "List[Any]":
        """Take the answers out of a line."""
        told = self.parsed(line, message)
        values = told.get("values")
        if not isinstance(values, list):
            raise Wrong('no "values" in the answer %s' % shown(line))
        if len(values) != len(message["values"]):
            raise Wrong("%d answers for %d values: %s" % (len(values), len(message["values"]), shown(line)))
        for value in values:
            known = isinstance(value, dict) and len(value) == 1 and set(value) <= set(STATUS_OF)
            if isinstance(value, list) or (isinstance(value, dict) and not known):
                raise Wrong("an answer that is neither a value nor why there is none: %.100r" % (value,))
        return values

    def parsed(self, line: bytes, message: "Dict[str, Any]", refused: bool = False) -> "Dict[str, Any]":
        """Parse an answer and see that it is the one to this message; one that is `refused` may lack its id."""
        try:
            told = decode_json(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise Wrong("on stdout came %s, which is no line of JSON: %s" % (shown(line), error)) from None
        if refused and is_refusal(told, message["id"]):
            return dict(told)
        if not isinstance(told, dict) or told.get("id") != str(message["id"]):
            raise Wrong('the answer to "id": %d is %s' % (message["id"], shown(line)))
        return told

    def end(self) -> None:
        """End the program, so that the next case has a fresh one."""
        if self.program is not None:
            self.program.end()
            self.program = None


def starts(talk: Conversation) -> str:
    """See the answer to the start line, and whether every field of the spec is read."""
    talk.begin()
    missing = [name for name in talk.config["reads"].values() if name not in talk.told["reads"]]
    if missing:
        raise Wrong("it reads %s, and not %s" % (", ".join(talk.told["reads"]), ", ".join(missing)))
    return "version %s, reads %s" % (talk.told["version"], ", ".join(talk.told["reads"]))


def tells_its_environment(talk: Conversation) -> str:
    """See what it says of clock, zone and locale: silence is no mistake, another clock is a note."""
    talk.begin()
    told = [name for name in ("runtime", "now", "offsets", "locale") if talk.told.get(name) not in (None, "")]
    offsets = talk.told.get("offsets")
    if "offsets" in told and (not isinstance(offsets, list) or len(offsets) != len(talk.config["instants"])):
        raise Wrong('"offsets" has not one number for each of "instants"')
    if "now" in told and not is_number(talk.told["now"]):
        raise Wrong('"now" is no number')
    return "told: " + (", ".join(told) or "nothing")


def reads_one(talk: Conversation) -> str:
    """Read one string."""
    talk.read(["2024-03-01"])
    return ""


def empty(talk: Conversation) -> str:
    """Read no value, and the empty string."""
    talk.read([])
    talk.read([""])
    return ""


def any_character(talk: Conversation) -> str:
    """Read what JSON can carry: other scripts, control characters, NUL, a lone surrogate."""
    talk.read(["1. März 2024", "２０２４年３月１日", "\U0001f4c5 1", "a\nb\r\n\tc", 'say "\\"', "\u2028", "\x7f\x85"])
    for hard in (["a\0b"], ["\ud800"], ["a\udfff"]):  # some languages have no such strings, and refuse the line
        message = talk.message(hard)
        line = talk.lines([line_of(message)])[0]
        if not is_refusal(talk.parsed(line, message, refused=True), message["id"]):
            talk.answers(line, message)
    talk.read(["2024-03-01"])
    return ""


def escapes(talk: Conversation) -> str:
    """Read a string twice, once with all its characters escaped: it is one string."""
    talk.number += 1
    escaped = '"%s"' % "".join("\\u%04X" % ord(one) for one in "2024-03-01")
    name = line_of({"read": talk.field()})[1:-2].decode("ascii")
    text = '{"values": ["2024-03-01", %s], "id": %d, %s}\n' % (escaped, talk.number, name)
    line = talk.lines([text.encode("ascii")])[0]
    first, second = talk.answers(line, {"id": talk.number, "values": ["", ""]})
    if first != second:
        raise Wrong("2024-03-01 with its characters escaped is read as %.80r, else as %.80r" % (second, first))
    return ""


def many(talk: Conversation) -> str:
    """Read many strings in one line: as many answers, each the one that its string has alone."""
    alone = {text: talk.read([text])[0] for text in SAMPLE}
    texts = [SAMPLE[(number * 7) % len(SAMPLE)] for number in range(MANY)]
    for index, (text, answer) in enumerate(zip(texts, talk.read(texts))):  # noqa: B905
        if answer != alone[text]:
            seen = "value %d of %d, %r, is read as %.80r, and alone as %.80r" % (index, MANY, text, answer, alone[text])
            raise Wrong(seen)
    return "%d values in one line" % MANY


def in_flight(talk: Conversation) -> str:
    """Send several lines before an answer is waited for."""
    talk.read_all([talk.message([text]) for text in SAMPLE[:4]])
    return ""


def long_string(talk: Conversation) -> str:
    """Read a string of ten megabytes."""
    talk.read(["9" * LONG])
    return ""


def unknown_key(talk: Conversation) -> str:
    """Read a line with a key of a later protocol."""
    talk.read(["2024-03-01"], later={"new": [1, None, True, 1.5e3]})
    return ""


def unknown_field(talk: Conversation) -> str:
    """Ask for a field that is none, then for one that is."""
    message = dict(talk.message(["a"]), read="no such field")
    line = talk.lines([line_of(message)])[0]
    if not isinstance(talk.parsed(line, message).get("error"), str):
        raise Wrong('no "error" in the answer %s' % shown(line))
    talk.read(["2024-03-01"])
    return ""


def quiet(talk: Conversation) -> str:
    """See that nothing comes unasked."""
    talk.read(["2024-03-01"])
    left = talk.begin().unasked(QUIET)
    if left:
        raise Wrong("after the answer it wrote %s on stdout" % shown(left))
    return ""


def stops(talk: Conversation) -> str:
    """Tell it to stop."""
    program = talk.begin()
    try:
        program.converse([line_of({"stop": True})], STOP)
    except Ended as error:
        if error.args[0] != "exit code 0":
            raise Wrong("it ended: " + str(error.args[0])) from None
        return ""
    except TimeoutError:
        raise Wrong("it still runs after %d s" % STOP) from None
    finally:
        talk.end()
    raise Wrong("it answered instead of ending")


def ends_with_stdin(talk: Conversation) -> str:
    """Close its stdin."""
    program = talk.begin()
    try:
        program.process.stdin.close()  # type: ignore[union-attr]
        if not program.wait_ended(STOP):
            raise Wrong("it still runs %d s after its stdin was closed" % STOP)
        if program.ending() != "exit code 0":
            raise Wrong("it ended: " + program.ending())
    finally:
        talk.end()
    return ""


CASES: "Tuple[Tuple[str, Callable[[Conversation], str], str], ...]" = (
    ("start line", starts, 'answer {"ready": 1, "version": "…", "reads": [names]} in one line, and flush'),
    ("environment", tells_its_environment, "one number per instant in offsets, ms in now, or leave them out"),
    ("one value", reads_one, 'answer {"id": the same id, "values": [one answer]}'),
    ("nothing and empty", empty, 'answer {"values": []} to no values; "" is a value like any other'),
    ("any character", any_character, "read and write JSON with a library, lines as UTF-8; refuse what you cannot hold"),
    ("escapes and order", escapes, "parse the line as JSON: its keys have no order, and any character may be escaped"),
    ("many values", many, "answer every value, in the order of the values; keep no state between two of them"),
    ("lines in flight", in_flight, "read line by line, whatever is there; answer in the order of the lines"),
    ("ten megabytes", long_string, "no limit on the length of a line; a rejection is an answer too"),
    ("unknown key", unknown_key, "ignore keys that you do not know"),
    ("unknown field", unknown_field, 'answer {"id": the same id, "error": "no field x"} and go on'),
    ("clean stdout", quiet, "print everything else on stderr, and one line feed after an answer"),
    ("stop", stops, "exit with code 0 at a line with stop"),
    ("end of stdin", ends_with_stdin, "exit with code 0 at the end of stdin"),
)


def check(config: "Dict[str, Any]") -> "List[List[str]]":
    """Go through all cases; where there is no start, no other case can be looked at."""
    talk = Conversation(config)
    found: "List[List[str]]" = []
    for name, case, to_do in CASES:
        try:
            found.append([name, "", case(talk)])
        except Wrong as wrong:
            found.append([name, str(wrong), to_do])
            talk.end()
            if case is starts:
                break
    talk.end()
    return found


class ConformanceAdapter:
    """What came of the cases."""

    def __init__(self, checks: "List[List[str]]") -> None:
        self.checks = checks

    def ready(self) -> "Dict[str, Any]":
        """Give the cases in the place of a readiness."""
        return {"reads": {}, "checks": self.checks}


def open_adapter(config: "Dict[str, Any]") -> ConformanceAdapter:
    """Go through the cases; StartError where there is no program to go through them with."""
    return ConformanceAdapter(check(config))
