"""A Spark that runs elsewhere, over Spark Connect: a server that is started here, as a user would."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from auditor.worker.trouble import Ended, StartError
from tests.engines.adapters import adapter_of, decode, need
from tests.sessions import open_consumer, quoted, shown

VALUES = ["2024-03-01", "2024-3-1", "01/03/2024", "N/A", "", "é", "'); DROP VIEW mock; --", "%s"]
READ = ["date:2024-03-01", "date:2024-03-01"]


class Running:
    """A server and how it is reached."""

    def __init__(self, folder: Path) -> None:
        from pyspark.find_spark_home import _find_spark_home

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        options = {
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(self.port),
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
        }
        command = [os.path.join(_find_spark_home(), "bin", "spark-submit"), "--master", "local[1]"]
        command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
        for name, value in options.items():
            command += ["--conf", f"{name}={value}"]
        with (folder / "log").open("w") as log:
            self.process = subprocess.Popen(
                [*command, "spark-internal"], stdout=log, stderr=log, cwd=folder, start_new_session=True
            )
        self.url = f"sc://127.0.0.1:{self.port}"
        until = time.monotonic() + 180
        while not self.listens():
            assert self.process.poll() is None and time.monotonic() < until, (folder / "log").read_text()[-2000:]
            time.sleep(0.2)

    def listens(self) -> bool:
        with socket.socket() as asking:
            return asking.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    need("spark")
    need("spark-connect")
    running = Running(tmp_path_factory.mktemp("spark"))
    yield running
    running.kill()


def test_a_server_is_asked_with_the_consumers_own_text(
    server: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_URL", server.url)
    consumer: dict[str, Any] = {"adapter": "sql", "engine": "spark", "connection": "env:SPARK_URL"}
    reads = {"f": "cast({value} as date)", "g": "to_date({value}, 'dd/MM/yyyy')"}
    types = dict.fromkeys(reads, "date")
    with open_consumer(tmp_path, reads, types=types, timeout=60.0, memory=2**36, **consumer) as session:
        found = shown(session.decode("f", quoted(VALUES)))
        assert found[:2] == READ
        assert [text[:31] for text in found[2:]] == ["rejected: [CAST_INVALID_INPUT] "] * 6
        for value, text in zip(VALUES[2:], found[2:], strict=True):
            written = value.replace("'", "\\'")
            assert f"The value '{written}' of" in text
        assert shown(session.decode("g", quoted(["01/03/2024", "2024-03-01"])))[0] == "date:2024-03-01"
        assert {"clock", "locale"} <= set(session.readiness.not_fixed)
        assert session.readiness.settings["engine"].startswith("spark ")
        assert "127.0.0.1" not in repr(session.readiness)


def test_settings_are_those_of_its_own_session(server: Running) -> None:
    reads = {"f": "cast({value} as date)"}
    lenient = adapter_of("spark", reads, connection=server.url, settings={"spark.sql.ansi.enabled": "false"})
    strict = adapter_of("spark", reads, connection=server.url)
    assert [found[0] for found in decode(lenient, "f", VALUES)] == ["value"] * 2 + ["null"] * 6
    assert [found[0] for found in decode(strict, "f", VALUES)] == ["value"] * 2 + ["rejected"] * 6


def test_what_is_no_expression_is_refused_at_the_start(server: Running) -> None:
    with pytest.raises(StartError) as caught:
        adapter_of("spark", {"f": "nosuch({value})"}, connection=server.url)
    assert "nosuch" in caught.value.seen


def test_a_server_that_is_not_there_is_named_soon_and_without_its_token() -> None:
    need("spark-connect")
    began = time.monotonic()
    with pytest.raises(StartError) as caught:
        adapter_of("spark", {"f": "{value}"}, connection="sc://127.0.0.1:1/;token=hunter2")
    assert time.monotonic() - began < 60
    assert "hunter2" not in caught.value.seen + caught.value.tried
    assert "connect to Spark" in caught.value.tried


def test_a_server_that_dies_has_rejected_nothing(server: Running) -> None:
    adapter = adapter_of("spark", {"f": "cast({value} as date)"}, connection=server.url)
    assert decode(adapter, "f", VALUES[:1])[0][1] == READ[0]
    server.kill()  # the last test of the file
    with pytest.raises(Ended, match="Spark"):
        adapter.decode_batch("f", VALUES)
