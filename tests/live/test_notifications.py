"""Webhook notifications of a daemon that is killed at every step: each arrives, and repeats have the same id."""

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


class WebhookReceiver:
    """A web server that collects webhook ids by pane. While ``can_answer`` is not set, it does not respond."""

    def __init__(self) -> None:
        self.ids_by_pane: defaultdict[int, list[str]] = defaultdict(list)
        self.can_answer = threading.Event()
        self.can_answer.set()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(handler) -> None:
                notice = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
                pane = int(notice["title"].partition("in pane ")[2].split()[0])
                self.ids_by_pane[pane].append(handler.headers["webhook-id"])
                self.can_answer.wait(60)
                handler.send_response(204)
                handler.end_headers()

            def log_message(handler, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.handle_error = lambda *_: None  # the client may have been killed
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"

    @contextmanager
    def listening(self) -> Iterator["WebhookReceiver"]:
        thread = threading.Thread(target=self._server.serve_forever)
        thread.start()
        try:
            yield self
        finally:
            self.can_answer.set()
            self._server.shutdown()
            thread.join()
            self._server.server_close()


class WebhookScene:
    def __init__(self, scene: WatchedTmux, receiver: WebhookReceiver):
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

    def open_pane(self) -> tuple[str, int]:
        mux_id = self.scene.tmux.start_session(f"s{os.urandom(3).hex()}", "sh")
        return mux_id, self.scene.wait_until_captured(mux_id)

    def count_pending(self) -> int:
        with closing(sqlite3.connect(self.scene.visor.paths.database, timeout=10)) as database:
            return database.execute("SELECT count(*) FROM notice").fetchone()[0]

    def print_disk_full(self, mux_id: str) -> None:
        """Print a line that is detected as an event."""
        self.scene.tmux.type_line(mux_id, "echo 'cp: writing x: No space left on'' device'")


@pytest.fixture
def webhook_scene() -> Iterator[WebhookScene]:
    with WebhookReceiver().listening() as receiver, run_watched_tmux() as scene:
        yield WebhookScene(scene, receiver)


@pytest.mark.live
def test_a_notification_interrupted_by_a_kill_is_resent_with_the_same_id(webhook_scene: WebhookScene) -> None:
    webhook_scene.receiver.can_answer.clear()
    with webhook_scene.daemon() as process:
        mux_id, pane = webhook_scene.open_pane()
        webhook_scene.print_disk_full(mux_id)
        wait_until(lambda: webhook_scene.receiver.ids_by_pane[pane], timeout_s=30)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
    webhook_scene.receiver.can_answer.set()
    with webhook_scene.daemon():
        wait_until(lambda: len(webhook_scene.receiver.ids_by_pane[pane]) >= 2, timeout_s=30)
        entries = webhook_scene.scene.visor.call_robot("audit", "--kind", "notify", "--limit", "10")["items"]
    assert len(set(webhook_scene.receiver.ids_by_pane[pane])) == 1
    assert len({item["correlation"] for item in entries}) == 1


@pytest.mark.live
@pytest.mark.timeout(240)
def test_a_daemon_killed_at_each_step_sends_every_notification_with_one_id(webhook_scene: WebhookScene) -> None:
    panes: dict[str, int] = {}
    for moment in NOTICE_MOMENTS:
        with webhook_scene.daemon():  # the very first call only stores the start position
            mux_id, panes[moment] = webhook_scene.open_pane()
        with webhook_scene.daemon(moment) as process:
            webhook_scene.print_disk_full(mux_id)
            process.wait(30)
        assert process.returncode == -signal.SIGKILL, moment
        with webhook_scene.daemon():
            wait_until(
                lambda pane=panes[moment]: (
                    webhook_scene.receiver.ids_by_pane[pane] and not webhook_scene.count_pending()
                ),
                timeout_s=30,
            )
    received = {moment: webhook_scene.receiver.ids_by_pane[pane] for moment, pane in panes.items()}
    assert {moment: len(set(ids)) for moment, ids in received.items()} == dict.fromkeys(NOTICE_MOMENTS, 1)
    repeated = {moment for moment, ids in received.items() if len(ids) > 1}
    assert repeated <= {"before a notice is ended"}
