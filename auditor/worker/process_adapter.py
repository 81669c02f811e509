"""Adapter for programs: any language, spoken to in lines of JSON (`consumers/protocol/PROTOCOL.md`).

``reads`` maps a field to the name by which the program knows it. The program runs in the consumer's root, else in the
spec's folder; its clock, zone and locale are what it says they are, and what can be seen of it from outside.
"""

from __future__ import annotations

import os
import shutil

from . import program_sources, program_state
from .answers import take
from .program import Program, decode_json, line_of, shown
from .trouble import Broken, Ended, StartError, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Tuple

VERSION = 1

#: Values of a line. Shorter lines cost more each, longer ones leave the program and us waiting for each other.
LINE = 1024
LONGEST_LINE = 256 * 1024

#: Seconds that a program may take until it is ready; the parent waits a little longer for us.
START = 25.0

TO_DO = "`auditor consumer check` says what a program does wrong; the protocol is consumers/protocol/PROTOCOL.md"

#: Names of the locale that C and POSIX have elsewhere.
C_LOCALES = ("c", "posix", "en", "en_us", "en_us_posix", "und", "")


class ProcessAdapter:
    """One program, and what it said of itself."""

    def __init__(self, config: "Dict[str, Any]") -> None:
        self.config = config
        self.command: "List[str]" = config["command"]
        self.number = 0
        self.program = start_program(config)
        self.told = greet(self.program, config)
        self.reads = fields_read(self.told, config)
        self.kinds: "Dict[str, str]" = config["fields"]

    def ready(self) -> "Dict[str, Any]":
        """Say what reads each field, and what the program is made of."""
        told, cwd = self.told, self.config["root"]
        runtime = told.get("runtime")
        try:
            sources = program_sources.sources(self.command, cwd, cwd != self.config["folder"])
        except program_sources.TooManyFiles as error:
            raise StartError("take the version of " + self.program.name, str(error), "name a smaller root") from error
        parts = {
            "command": self.command,
            "sources": sources,
            "program": told["version"],
            "runtime": runtime or program_sources.digest(executable(self.command, cwd)),
        }
        settings = {"program": told["version"]}
        if runtime:
            settings["runtime"] = runtime
        return {"reads": self.reads, "version_parts": parts, "settings": settings, "canary": self.canary()}

    def canary(self) -> "Dict[str, Any]":
        """Say what the program sees of its environment: by its own word, where it gives one."""
        instants, told = self.config["instants"], self.told
        seen: "Dict[str, Any]" = {}
        if is_number(told.get("now")):
            seen["clock"] = float(told["now"]) / 1000
        else:
            stands = program_state.stands_at(self.program.process.pid, instants[0])
            seen["clock"] = instants[0] if stands else None
        # What our own interpreter sees is no word of the program: what it does not tell is not known.
        seen["offsets"] = seen["locale"] = None
        if isinstance(told.get("offsets"), list):
            seen["offsets"] = [int(float(one)) if is_number(one) else None for one in told["offsets"]]
        if isinstance(told.get("locale"), str):
            named = os.environ.get("LC_ALL") or os.environ.get("LANG") or "C"
            seen["locale"] = named if same_locale(told["locale"], named) else told["locale"]
        seen["hash_seed"] = program_state.hash_seed(self.program.process.pid, self.command[0])
        seen["randomized"] = seen["hash_seed"] != "0"
        return seen

    def decode_batch(self, field: str, values: "List[str]") -> "Tuple[List[Optional[str]], Dict[int, List[str]]]":
        """Decode texts: some lines of them, and the answers as tagged texts."""
        texts: "List[Optional[str]]" = []
        faults: "Dict[int, List[str]]" = {}
        parts = in_lines(values)
        for part, answers in zip(parts, self.ask(self.reads[field], parts)):  # noqa: B905 - no `strict` on Python 3.8
            answers = self.one_by_one(field, part) if answers is None else answers
            found, why = take(answers, self.kinds[field], self.told.get("tagged") is True)
            faults.update({len(texts) + index: fault for index, fault in why.items()})
            texts += found
        return texts, faults

    def one_by_one(self, field: str, values: "List[str]") -> "List[Any]":
        """Ask again for each value of a line that the program refused as a whole."""
        found: "List[Any]" = []
        for value in values:
            answers = self.ask(self.reads[field], [[value]])[0]
            found.append({"error": self.refused} if answers is None else answers[0])
        return found

    def ask(self, name: str, parts: "List[List[str]]") -> "List[Optional[List[Any]]]":
        """Ask for some lines of values; None for a line that the program refused, which `refused` then says why."""
        first = self.number + 1
        self.number += len(parts)
        lines = [line_of({"read": name, "id": number, "values": part}) for number, part in enumerate(parts, first)]
        answers = self.program.converse(lines)
        return [self.answer(line, number, name, part) for number, (line, part) in enumerate(zip(answers, parts), first)]  # noqa: B905

    def answer(self, line: bytes, number: int, name: str, values: "List[str]") -> "Optional[List[Any]]":
        """Read one answer; Broken where it is none."""
        tried = "read %d values of %s with %s" % (len(values), name, self.program.name)
        try:
            message = decode_json(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            seen = "it wrote on stdout %s, which is no line of JSON: %s" % (shown(line), error)
            hint = "stdout is for answers: what else the program prints goes to stderr. " + TO_DO
            raise Broken(tried, seen, hint) from None
        if is_refusal(message, number):
            self.refused: str = message["error"]
            return None
        if not isinstance(message, dict) or message.get("id") != str(number):
            raise Broken(tried, 'no answer with "id": %d, but %s' % (number, shown(line)), TO_DO)
        answers = message.get("values")
        if not isinstance(answers, list):
            raise Broken(tried, "an answer without an array of values: %s" % shown(line), TO_DO)
        if len(answers) != len(values):
            raise Broken(tried, "%d answers in %s" % (len(answers), shown(line)), "each value has one answer. " + TO_DO)
        return answers


def is_refusal(message: "Any", number: int) -> bool:
    """Say whether an answer refuses its line as a whole; one that could not be parsed has no id to repeat."""
    if not isinstance(message, dict) or message.get("id", "") not in (str(number), None):
        return False
    return isinstance(message.get("error"), str) and "values" not in message


def in_lines(values: "List[str]") -> "List[List[str]]":
    """Cut values into lines of about one size."""
    if not values:
        return []
    most = max(1, min(LINE, LONGEST_LINE * len(values) // (1 + sum(map(len, values)))))
    return [values[at : at + most] for at in range(0, len(values), most)]


def executable(command: "List[str]", cwd: str) -> str:
    """Give the file that runs a command; StartError where there is none."""
    word = command[0]
    if os.sep in word:
        path = os.path.join(cwd, word)
        if not os.path.isfile(path):
            raise StartError(
                "start " + word, "there is no file " + path, "a command is relative to `root`, else to the spec"
            )
        if not os.access(path, os.X_OK):
            raise StartError("start " + path, "the file cannot be executed", "chmod +x, or name what runs it first")
        return path
    found = shutil.which(word)
    if found is None:
        hint = "install it, or write its whole path in `command`"
        raise StartError("start " + word, "there is no such program on PATH (%s)" % os.environ.get("PATH", ""), hint)
    return found


def start_program(config: "Dict[str, Any]") -> Program:
    """Start the program of a consumer."""
    command, cwd = config["command"], config["root"]
    executable(command, cwd)
    try:
        return Program(command, cwd, config["memory"], config["launcher"])
    except OSError as error:
        raise StartError("start " + " ".join(command), str(error)) from error


def greet(program: Program, config: "Dict[str, Any]") -> "Dict[str, Any]":
    """Send the first line and give the program's answer to it."""
    tried = "start %s in %s" % (program.name, config["root"])
    names = sorted({config["reads"].get(field, field) for field in config["fields"]})
    instants = [int(instant * 1000 // 1) for instant in config["instants"]]
    hello = line_of({"start": VERSION, "fields": names, "instants": instants})
    try:
        line = program.converse([hello], START)[0]
    except Ended as error:
        raise StartError(tried, "it ended before it answered the start line: %s" % error.args[0], TO_DO) from None
    except TimeoutError:
        seen = "no answer to the start line within %d s" % START
        raise StartError(tried, seen, "the answer must end in a line feed and be flushed. " + TO_DO) from None
    except (Broken, MemoryError) as error:
        raise StartError(tried, str(error), TO_DO) from None
    try:
        return checked(decode_json(line.decode("utf-8")))
    except ValueError as error:
        seen = "it answered the start line with %s: %s" % (shown(line), error)
        raise StartError(tried, seen, TO_DO) from None


def checked(told: "Any") -> "Dict[str, Any]":
    """Give the answer to the start line; ValueError says what it lacks."""
    if not isinstance(told, dict) or told.get("ready") != str(VERSION):
        raise ValueError('it has no "ready": %d' % VERSION)
    if not isinstance(told.get("version"), str) or not told["version"]:
        raise ValueError('it has no "version", a text')
    reads = told.get("reads")
    if not isinstance(reads, list) or not reads or not all(isinstance(name, str) for name in reads):
        raise ValueError('it has no "reads", the names of what it reads')
    return dict(told, runtime=told["runtime"] if isinstance(told.get("runtime"), str) else "")


def fields_read(told: "Dict[str, Any]", config: "Dict[str, Any]") -> "Dict[str, str]":
    """Map each field to the program's own name for it: as the spec says, else every field that the program names."""
    reads: "Dict[str, str]" = config["reads"] or {field: field for field in config["fields"] if field in told["reads"]}
    tried = "find what %s reads" % " ".join(config["command"])
    for field, name in reads.items():
        if name not in told["reads"]:
            raise StartError(tried, "it does not read %r (field %s)" % (name, field), nearest(name, told["reads"]))
    if not reads:
        seen = "it reads %s, none of which is a field of the spec" % ", ".join(told["reads"])
        raise StartError(tried, seen, 'name them, as in reads.total = "%s"' % told["reads"][0])
    return reads


def is_number(value: "Any") -> bool:
    """Say whether a value of JSON is a number that a clock can show."""
    try:
        return type(value) not in (bool, type(None), list, dict) and abs(float(value)) < 1e18
    except ValueError:
        return False


def same_locale(told: str, named: str) -> bool:
    """Compare a program's name of its locale with a POSIX one: de-DE is de_DE.UTF-8, and C is English elsewhere."""
    tag = told.partition("-u-")[0].partition(".")[0].replace("-", "_").lower()
    posix = named.partition(".")[0].partition("@")[0].lower()
    return tag == posix or (posix in ("c", "posix") and tag in C_LOCALES)


def open_adapter(config: "Dict[str, Any]") -> ProcessAdapter:
    """Start the program and hear what it reads."""
    return ProcessAdapter(config)
