"""A program that keeps to the protocol, but for the habit that its argument names and for what a string asks of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

HABIT = sys.argv[1] if len(sys.argv) > 1 else ""


def write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def flood() -> None:
    while True:
        os.write(1, b"x" * 65536)


def close_stdin() -> None:
    os.close(0)
    time.sleep(600)


def eat() -> None:
    eaten = []
    while True:
        eaten.append(b"x" * (16 << 20))


def sleeper() -> int:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    return child.pid


def fork() -> int:
    pid = os.fork()
    if pid == 0:
        time.sleep(600)
    return pid


DEEDS = {
    "die": lambda: os._exit(3),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "hang": lambda: time.sleep(600),
    "flood": flood,
    "close": close_stdin,
    "eat": eat,
    "sleeper": sleeper,
    "fork": fork,
    "noise": lambda: (sys.stderr.write("noise\n" * (1 << 20)), "quiet")[1],
    "error": lambda: {"error": "the service is away"},
    "reject": lambda: {"rejected": "ValueError: no"},
    "chat": lambda: (write("debug: chat\n"), "x")[1],
    "torn": lambda: write('{"id": 1, "val') or os._exit(4),
    "twice": lambda: (write(json.dumps({"id": 0, "values": ["x"]}) + "\n"), "x")[1],
}

seen = 0


def answer_of(text: str) -> object:
    global seen
    seen += 1
    if HABIT == "state" and seen > 1000:
        return "state"
    if HABIT == "short memory" and len(text) > 1 << 20:
        os._exit(5)
    return DEEDS[text]() if text in DEEDS else {"null": "blank"} if text == "blank" else text


def answers(message: dict) -> dict:
    values = [answer_of(text) for text in message["values"]]
    if HABIT == "few" and len(values) > 1:
        values = values[1:]
    if HABIT == "swapped":
        values = values[::-1]
    if HABIT == "skips empty":
        values = [value for value in values if value != ""]
    if HABIT == "object":
        values = [{"value": value} for value in values]
    return {"id": 0 if HABIT == "wrong id" else message["id"], "values": values}


def main() -> None:
    if HABIT == "banner":
        write("Starting up\n")
    if HABIT == "dies at once":
        sys.stderr.write("no license file\n")
        sys.exit(7)
    if HABIT == "never answers":
        time.sleep(600)
    for line in sys.stdin:
        if HABIT == "naive" and "\\u" in line:
            line = line.replace("\\u", "U")
        message = json.loads(line)
        if "stop" in message and HABIT != "does not stop":
            sys.exit(1 if HABIT == "ends with 1" else 0)
        if "start" in message:
            ready = {"ready": 1, "version": "1", "reads": ["f", "g"]}
            if HABIT == "no version":
                del ready["version"]
            if HABIT == "clock":
                ready["now"] = 5
            if HABIT in ("tells", "tells the time"):
                ready["now"] = time.time_ns() // 10**6
            if HABIT == "tells":
                ready["locale"] = "C"
                ready["offsets"] = [time.localtime(instant / 1000).tm_gmtoff for instant in message["instants"]]
            write(json.dumps(ready) + "\n")
        elif "read" in message:
            if HABIT == "strict keys" and set(message) != {"read", "id", "values"}:
                os._exit(6)
            if message["read"] not in ("f", "g") and HABIT != "any field":
                if HABIT == "unknown ends":
                    raise KeyError(message["read"])
                write(json.dumps({"id": message["id"], "error": "no field " + message["read"]}) + "\n")
            elif "refuse" in message["values"]:
                write(json.dumps({"id": message["id"], "error": "refused as a whole"}) + "\n")
            else:
                write(json.dumps(answers(message)) + "\n")
                if HABIT == "afterthought":
                    write("done\n")
    if HABIT == "outlives stdin":
        time.sleep(600)


main()
