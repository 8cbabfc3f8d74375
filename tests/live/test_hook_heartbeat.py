"""A hook that waits for a person knows whether the daemon still lives."""

import json
import os
import signal
import sys
import time
from threading import Thread

import pytest

from termvisor.frontends.hook import SILENT_FOR
from termvisor.system.subprocesses import ask
from tests.live.looking import look
from tests.live.waiting import until

pytestmark = pytest.mark.live
REQUEST = json.dumps({"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "make"}}).encode()


def test_it_waits_while_the_daemon_lives_and_leaves_one_that_stands_still(scene):
    visor, ends = scene.visor, []
    words = [sys.executable, "-m", "termvisor", "hook", "permission", "--agent=claude_code"]
    hook = Thread(target=lambda: ends.append(ask(words, stdin=REQUEST, env=visor.env, timeout=90)))
    scene.tmux.start(command="cat")
    visor.up()
    hook.start()
    until(lambda: look(visor, "inbox")["items"])
    time.sleep(SILENT_FOR + 3)
    assert hook.is_alive()
    daemon = visor.daemon_pid
    os.kill(daemon, signal.SIGSTOP)
    try:
        hook.join(60)
        assert ends == [(0, b"", b"")]
    finally:
        os.kill(daemon, signal.SIGCONT)
    until(lambda: not look(visor, "inbox")["items"])
    assert [item["state"] for item in visor.robot("inbox", "--all")["items"]] == ["withdrawn"]
