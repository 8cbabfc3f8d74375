"""A webhook for an event, beside a daemon that is killed at every step of telling it: it comes, and is known again."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from termvisor.client.daemon_process import fetch_hello
from tests.live.conftest import WatchedTmux, run_watched_tmux
from tests.live.crashing_send_daemon import NEVER
from tests.live.crashing_workflow_daemon import NOTICE_MOMENTS
from tests.live.polling import wait_until

ROOT = Path(__file__).resolve().parents[2]


class Receiver:
    """A web server that keeps what it gets: by pane the ids of the notices. While it is ``deaf`` it does not answer."""

    def __init__(self) -> None:
        self.got: defaultdict[int, list[str]] = defaultdict(list)
        self.hears = threading.Event()
        self.hears.set()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(handler) -> None:
                notice = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
                pane = int(notice["title"].partition("in pane ")[2].split()[0])
                self.got[pane].append(handler.headers["webhook-id"])
                self.hears.wait(60)
                handler.send_response(204)
                handler.end_headers()

            def log_message(handler, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.handle_error = lambda *_: None  # who asked may be dead by now
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"

    @contextmanager
    def listening(self) -> Iterator["Receiver"]:
        thread = threading.Thread(target=self._server.serve_forever)
        thread.start()
        try:
            yield self
        finally:
            self.hears.set()
            self._server.shutdown()
            thread.join()
            self._server.server_close()


class Street:
    def __init__(self, scene: WatchedTmux, receiver: Receiver):
        self.scene, self.receiver = scene, receiver
        config = Path(scene.visor.paths.config_dir)
        config.mkdir(parents=True, exist_ok=True)
        (config / "config.toml").write_text(
            f'[notify]\nwebhook_url = "{receiver.url}"\n[events]\nways = ["webhook"]\ntypes = ["disk.full"]\n'
        )

    @contextmanager
    def daemon(self, moment: str = NEVER, nth: int = 1) -> Iterator[subprocess.Popen[bytes]]:
        argv = [sys.executable, "-m", "tests.live.crashing_workflow_daemon", moment, str(nth)]
        with subprocess.Popen(argv, cwd=ROOT, env=self.scene.visor.env) as process:
            try:
                wait_until(lambda: process.poll() is not None or fetch_hello(self.scene.visor.paths), timeout_s=30)
                yield process
            finally:
                process.kill()

    def pane(self) -> tuple[str, int]:
        mux_id = self.scene.tmux.start_session(f"s{os.urandom(3).hex()}", "sh")
        return mux_id, self.scene.wait_until_captured(mux_id)

    def owed(self) -> int:
        with closing(sqlite3.connect(self.scene.visor.paths.database, timeout=10)) as database:
            return database.execute("SELECT count(*) FROM notice").fetchone()[0]

    def trouble(self, mux_id: str) -> None:
        """Something happens there that is an event."""
        self.scene.tmux.type_line(mux_id, "echo 'cp: writing x: No space left on'' device'")


@pytest.fixture
def street() -> Iterator[Street]:
    with Receiver().listening() as receiver, run_watched_tmux() as scene:
        yield Street(scene, receiver)


def test_what_a_killed_daemon_was_telling_is_told_by_the_next_under_the_same_id(street: Street) -> None:
    street.receiver.hears.clear()
    with street.daemon() as process:
        mux_id, pane = street.pane()
        street.trouble(mux_id)
        wait_until(lambda: street.receiver.got[pane], timeout_s=30)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
    street.receiver.hears.set()
    with street.daemon():
        wait_until(lambda: len(street.receiver.got[pane]) >= 2, timeout_s=30)
        told = street.scene.visor.call_robot("audit", "--kind", "notify", "--limit", "10")["items"]
    assert len(set(street.receiver.got[pane])) == 1
    assert len({item["correlation"] for item in told}) == 1


@pytest.mark.live
@pytest.mark.timeout(240)
def test_killed_at_every_step_each_event_is_told_and_nothing_twice_without_its_id(street: Street) -> None:
    panes: dict[str, int] = {}
    for moment in NOTICE_MOMENTS:
        with street.daemon():  # the first of all calls that owe something only says from where on
            mux_id, panes[moment] = street.pane()
        with street.daemon(moment) as process:
            street.trouble(mux_id)
            process.wait(30)
        assert process.returncode == -signal.SIGKILL, moment
        with street.daemon():
            wait_until(lambda pane=panes[moment]: street.receiver.got[pane] and not street.owed(), timeout_s=30)
    got = {moment: street.receiver.got[pane] for moment, pane in panes.items()}
    assert {moment: len(set(ids)) for moment, ids in got.items()} == dict.fromkeys(NOTICE_MOMENTS, 1)
    often = {moment for moment, ids in got.items() if len(ids) > 1}
    assert often <= {"before a notice is ended"}
