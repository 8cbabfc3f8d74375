"""The permission hook waits for an answer as long as the daemon is alive."""

import json
import os
import signal
import sys
import time
from threading import Thread

import pytest

from termvisor.frontends.hook import SILENCE_TIMEOUT_S
from termvisor.system.subprocesses import run_and_capture
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot

pytestmark = pytest.mark.live
REQUEST = json.dumps({"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "make"}}).encode()


def test_the_permission_hook_waits_for_a_live_daemon_and_exits_if_it_is_stopped(scene):
    visor, results = scene.visor, []
    argv = [sys.executable, "-m", "termvisor", "hook", "permission", "--agent=claude_code"]
    hook = Thread(target=lambda: results.append(run_and_capture(argv, stdin=REQUEST, env=visor.env, timeout_s=90)))
    scene.tmux.start_session(command="cat")
    visor.start()
    hook.start()
    wait_until(lambda: call_robot(visor, "inbox")["items"])
    time.sleep(SILENCE_TIMEOUT_S + 3)
    assert hook.is_alive()
    daemon = visor.daemon_pid
    os.kill(daemon, signal.SIGSTOP)
    try:
        hook.join(60)
        assert results == [(0, b"", b"")]
    finally:
        os.kill(daemon, signal.SIGCONT)
    wait_until(lambda: not call_robot(visor, "inbox")["items"])
    assert [item["state"] for item in visor.call_robot("inbox", "--all")["items"]] == ["withdrawn"]
