"""Parsers that change the process under the worker's feet, and then answer."""

import atexit
import builtins
import datetime
import decimal
import io
import json
import locale
import os
import signal
import struct
import sys
import threading
import time

print("imported, and saying so")


def prints(text):
    print(text * 10)
    sys.stderr.write(text * 10)
    return text


def replaces_stdout(text):
    sys.stdout = sys.stderr = io.StringIO()
    return text


def forks_and_returns_twice(text):
    os.fork()
    return text


def forks_and_raises_in_the_child(text):
    if os.fork() == 0:
        raise ValueError("the child")
    return text


def leaves_a_child_with_everything_open(text):
    if text == "3" and os.fork() == 0:
        time.sleep(3600)
        os._exit(0)
    return text


def leaves_a_child_and_dies(text):
    if text == "3":
        if os.fork() == 0:
            time.sleep(3600)
        os._exit(5)
    return text


def changes_directory(text):
    os.chdir("/")
    return text


def changes_locale(text):
    locale.setlocale(locale.LC_ALL, "C")
    os.environ["TZ"] = "Asia/Tokyo"
    time.tzset()
    return text


class Date(datetime.date):
    def isoformat(self):
        raise RuntimeError("patched")


def patches_modules(text):
    value = datetime.date(2024, 3, 1)
    datetime.date = datetime.datetime = Date
    decimal.Decimal = str
    json.loads = json.dumps = json.JSONEncoder.encode = json.JSONEncoder.iterencode = (
        None
    )
    json.encoder.c_make_encoder = json.encoder.encode_basestring = None
    struct.Struct = struct.pack = struct.unpack = None
    os.read = os.write = os.fstat = os.getpid = os._exit = None
    return value


def patches_builtins(text):
    for name in (
        "len",
        "isinstance",
        "type",
        "str",
        "enumerate",
        "Exception",
        "KeyError",
        "getattr",
        "min",
        "repr",
    ):
        setattr(builtins, name, None)
    return int(text)


def lowers_the_recursion_limit(text):
    depth = 1
    while True:
        try:
            sys.setrecursionlimit(depth)
        except RecursionError:
            depth += 1
        else:
            return text


def installs_handlers(text):
    for number in (
        signal.SIGTERM,
        signal.SIGINT,
        signal.SIGALRM,
        signal.SIGIO,
        signal.SIGPIPE,
    ):
        signal.signal(number, lambda *_: None)
    atexit.register(time.sleep, 3600)
    return text


def starts_threads(text):
    threading.Thread(target=time.sleep, args=(3600,)).start()
    return text


def stops_itself(text):
    if text == "3":
        os.kill(os.getpid(), signal.SIGSTOP)
    return text


def counts(text, state=[0]):  # noqa: B006
    state[0] += 1
    if state[0] == 700:
        os._exit(9)
    return text


def counts_to_two(text, state=[0]):  # noqa: B006
    state[0] += 1
    if state[0] == 2:
        os._exit(9)
    return text


def scribbles_on_the_protocol(text):
    if text == "3":
        for descriptor in range(3, 4096):
            try:
                os.write(descriptor, b"\0\0\0\2\0\0\0\2{}[]")
            except OSError:
                pass
    return text


def reopens_our_numbers(text):
    if text == "3":
        os.closerange(3, 4096)
        for _ in range(16):
            open("scribble.txt", "w")
    return text


def interrupts(text):
    if text == "3":
        raise KeyboardInterrupt
    return text


def runs_out_of_memory_at_once(text):
    if text == "3":
        return "x" * (1 << 60)
    return text


def writes_a_book(text):
    return "x" * (300 * 1024 * 1024) if text == "3" else text
