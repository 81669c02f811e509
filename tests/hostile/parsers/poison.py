"""A sound parser of `number words` with one string for each way to misbehave."""

import ctypes
import os
import signal
import sys
import time


def segfault():
    ctypes.string_at(0)


def busy_hang():
    while True:
        pass


def sleep():
    time.sleep(3600)


def leave():
    os._exit(3)


def exit_politely():
    sys.exit("good bye")


def kill_itself():
    os.kill(os.getpid(), signal.SIGKILL)


def abort():
    os.abort()


def eat_memory():
    eaten = []
    while True:
        eaten.append(bytearray(64 * 1024 * 1024))


def recurse(depth=0):
    return recurse(depth + 1) + 1


def flood():
    block = b"x" * 65536
    for _ in range(128):
        os.write(1, block)
    return "flooded"


def close_everything():
    os.closerange(0, 4096)
    return "closed"


POISONS = {
    function.__name__: function
    for function in (
        segfault,
        busy_hang,
        sleep,
        leave,
        exit_politely,
        kill_itself,
        abort,
        eat_memory,
        recurse,
        flood,
        close_everything,
    )
}


def read(text):
    """Give the number at the end of a text; the name of a poison does what it says."""
    if text in POISONS:
        return POISONS[text]()
    number = int(text.rsplit(" ", 1)[1])
    return None if number % 7 == 0 else number
