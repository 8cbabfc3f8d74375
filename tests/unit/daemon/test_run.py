"""A daemon as a real process: start, serve, stop."""

import os
import signal
import socket
from pathlib import Path

import pytest

from termvisor.client.connection import BlockingConnection, connect_if_running
from termvisor.client.daemon_process import is_running, stop_daemon
from termvisor.protocol import command_protocol
from termvisor.settings import Paths
from termvisor.system.retry import wait_until
from tests.unit.fake_daemon import reap_daemons, run_fake_daemon


def open_connection(places: Paths) -> BlockingConnection:
    one = connect_if_running(places.daemon_socket)
    assert one is not None
    return one


def test_sigterm_stops_the_daemon_cleanly(folder: str) -> None:
    with run_fake_daemon(folder) as places:
        os.kill(_pid(places), signal.SIGTERM)
        reap_daemons()
        assert not is_running(places)
        assert not os.path.exists(places.daemon_socket)
        with open(places.log_file) as log:
            assert log.read().rstrip().endswith("stopped")


def test_a_request_that_does_not_finish_is_ended_with_the_daemon(folder: str) -> None:
    with run_fake_daemon(folder) as places, socket.socket(socket.AF_UNIX) as waiting:
        waiting.connect(places.daemon_socket)
        words = ("wait-for", "1", "never", "--timeout-secs", "60")
        waiting.sendall(command_protocol.encode_request(command_protocol.CommandRequest(words)))
        assert waiting.recv(100) == command_protocol.encode_frame(b"a", command_protocol.PROTOCOL_VERSION)
        stop_daemon(places)
        assert waiting.recv(100) == b""
        assert not is_running(places)


def test_sighup_and_a_second_stop_signal_are_harmless(folder: str) -> None:
    with run_fake_daemon(folder) as places:
        os.kill(_pid(places), signal.SIGHUP)
        one = open_connection(places)
        assert one.call("health", {})["panes_tracked"] == 3
        one.call("shutdown", {})
        one.close()
        assert wait_until(lambda: not is_running(places), 10.0)


def test_sighup_reloads_settings_and_ignores_invalid_ones(folder: str) -> None:
    with run_fake_daemon(folder) as places:
        os.makedirs(places.config_dir)
        for text, expected in (
            ("full_interval = 20\n", "settings reloaded: full_interval; need a restart: none"),
            ("full_interval = 'x'\n", "the settings were not reloaded"),
            ("full_interval = 30\nsegment_bytes = 65536\n", "full_interval; need a restart: segment_bytes"),
        ):
            Path(places.config_file).write_text(text)
            os.kill(_pid(places), signal.SIGHUP)
            assert wait_until(lambda expected=expected: expected in Path(places.log_file).read_text(), 10.0)


def test_log_and_folders_of_the_daemon_are_private(folder: str) -> None:
    with run_fake_daemon(folder) as places:
        for path in (places.runtime_dir, places.data_dir, places.log_file, places.daemon_socket, places.daemon_lock):
            assert os.stat(path).st_mode & 0o077 == 0


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_daemon_whose_socket_is_gone_ends_cleanly(folder: str, is_replaced: bool) -> None:
    with run_fake_daemon(folder) as places:
        os.unlink(places.daemon_socket)
        if is_replaced:
            Path(places.daemon_socket).touch()
        reap_daemons()
        assert not is_running(places)
        assert os.path.exists(places.daemon_socket) == is_replaced
        log = Path(places.log_file).read_text()
        assert "socket was removed or replaced" in log
        assert log.rstrip().endswith("stopped")


def _pid(places: Paths) -> int:
    one = open_connection(places)
    one.close()
    return one.hello.pid
