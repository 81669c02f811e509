"""What a program is made of: the files that its command names and those beside them, or the whole of its folder."""

from __future__ import annotations

import hashlib
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator, List

#: Folders whose files are others' work, known by what the package manager wrote down.
INSTALLED = "node_modules"

#: Options of Java's whose argument is a list of places, wherever they are.
PATH_OPTIONS = ("-cp", "-classpath", "--class-path", "-p", "--module-path")

#: More files than this are no folder of a program's.
MOST_FILES = 20_000


class TooManyFiles(Exception):
    """A folder that is too large to be a part of a version."""


def sources(command: "List[str]", cwd: str, rooted: bool) -> "List[List[str]]":
    """Give [name, sha256] of every file that counts: by its path in the program's folder, elsewhere by its own name.

    `rooted` says that the folder is the program's own, and all in it counts. Else it is the files that the command
    names, each with those of the same suffix beside it, and the folders of `cwd` that it names (a classpath). What
    runs them, such as /usr/bin/node, is known by the program's own word.
    """
    files = set(below(cwd)) if rooted else set()
    for path in named(command, cwd):
        if os.path.isfile(path):
            files.update([path] if rooted else alike(path))
        elif os.path.isdir(path) and not holds(path, cwd):
            files.update(below(path))
    return sorted([name_of(path, cwd), digest(path)] for path in files)


def named(command: "List[str]", cwd: str) -> "Iterator[str]":
    """Give the places that a command may name: files, what lies in `cwd`, and a classpath with its folders."""
    for number, word in enumerate(command):
        whole = os.path.join(cwd, word)
        if os.path.isfile(whole) and (number or (os.sep in word and inside(whole, cwd))):
            yield whole
        anywhere = number and command[number - 1] in PATH_OPTIONS
        for part in word.partition("=")[2].split(os.pathsep) + word.split(os.pathsep):
            path = os.path.join(cwd, part[:-1] if part.endswith(os.sep + "*") else part)
            if part and (anywhere or inside(path, cwd)):
                yield path


def holds(folder: str, cwd: str) -> bool:
    """Say whether a folder is `cwd` or above it: more than a program's own."""
    return os.path.join(os.path.realpath(cwd), "").startswith(os.path.join(os.path.realpath(folder), ""))


def inside(path: str, cwd: str) -> bool:
    """Say whether a path is below a folder."""
    return os.path.realpath(path).startswith(os.path.join(os.path.realpath(cwd), ""))


def name_of(path: str, cwd: str) -> str:
    """Name a file alike on every machine."""
    return (
        os.path.relpath(os.path.realpath(path), os.path.realpath(cwd)) if inside(path, cwd) else os.path.basename(path)
    )


def alike(path: str) -> "Iterator[str]":
    """Give a file and those of its suffix beside it, from which it may import."""
    yield path
    folder, name = os.path.split(path)
    suffix = os.path.splitext(name)[1]
    for other in os.listdir(folder) if suffix else ():
        if other.endswith(suffix) and os.path.isfile(os.path.join(folder, other)):
            yield os.path.join(folder, other)


def below(folder: str) -> "Iterator[str]":
    """Give the files below a folder, without hidden folders and caches; of installed packages what names them."""
    count = 0
    for place, folders, names in os.walk(folder):
        if INSTALLED in folders:
            yield from packages(os.path.join(place, INSTALLED))
        folders[:] = sorted(name for name in folders if name[0] != "." and name not in (INSTALLED, "__pycache__"))
        for name in names:
            path = os.path.join(place, name)
            if os.path.isfile(path):
                count += 1
                if count > MOST_FILES:
                    raise TooManyFiles("more than %d files in %s" % (MOST_FILES, folder))
                yield path


def packages(folder: str) -> "Iterator[str]":
    """Give the files that name the installed packages of Node: npm's own list, else each package's."""
    listed = os.path.join(folder, ".package-lock.json")
    if os.path.isfile(listed):
        yield listed
        return
    for name in sorted(os.listdir(folder)):
        inside = os.path.join(folder, name)
        for each in [os.path.join(inside, each) for each in os.listdir(inside)] if name[0] == "@" else [inside]:
            if os.path.isfile(os.path.join(each, "package.json")):
                yield os.path.join(each, "package.json")


def digest(path: str) -> str:
    """Give the sha256 of a file, "unreadable" where it cannot be read."""
    whole = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            for piece in iter(lambda: file.read(1 << 20), b""):
                whole.update(piece)
    except OSError:
        return "unreadable"
    return whole.hexdigest()
