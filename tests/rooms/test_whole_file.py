"""A file appears whole or not at all, and what is no file is never replaced by one."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from auditor.whole_file import write_whole


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"old")
    write_whole(tmp_path / "f", b"new", mode=0o600)
    assert [(one.name, one.read_bytes(), one.stat().st_mode & 0o777) for one in tmp_path.iterdir()] == [
        ("f", b"new", 0o600)
    ]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", b"one")
    write_whole(tmp_path / "link", b"two")
    assert ((tmp_path / "real").read_bytes(), (tmp_path / "link").is_symlink()) == (b"two", True)


def test_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    """As root a rename would put a file in the place of /dev/null, for every program of the machine."""
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_whole(pipe, b"told")
    reader.join(10)
    assert (read, pipe.is_fifo()) == ([b"told"], True)
    write_whole(Path("/dev/null"), b"gone")
    assert Path("/dev/null").is_char_device()


def test_where_it_cannot_be_written_the_old_one_stays(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "none" / "f", b"x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path / "folder", b"x")
    assert [one.name for one in tmp_path.iterdir()] == ["folder"]
