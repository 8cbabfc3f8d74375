"""Each printed line is one detection, however it is written and however often the daemon is killed."""

import os
import random
import signal
from pathlib import Path

import pytest

from tests.live.polling import wait_until
from tests.live.robot_call import call_robot

EVENT_COUNT = 24
RULE = """
id = "org.deploy.failed"
since = "1"
scope = "line"
anchors = ["DEPLOY FAILED"]
pattern = '^DEPLOY FAILED: (?P<what>\\w+)'
event = "deploy.failed"
severity = "error"
cooldown = 0
why = "A deployment failed."
[[hit]]
text = "DEPLOY FAILED: web"
captures = { what = "web" }
[[miss]]
text = "DEPLOY OK: web"
"""
BROKEN = """
id = "org.broken"
pattern = "("
"""
PRINTER = """
import os, sys, time
for number in range(1, 25):
    for piece in (b"DEPLOY ", b"FAILED: ", b"n%d" % number, b"\\r\\n"):
        os.write(1, piece)
        time.sleep(0.03)
os.write(1, b"printed\\r\\n")
time.sleep(600)
"""


def write_rules(visor) -> None:
    pack = Path(visor.paths.config_dir) / "packs" / "org.local"
    pack.mkdir(parents=True)
    (pack / "deploy_failed.toml").write_text(RULE)
    (pack / "broken.toml").write_text(BROKEN)


def list_detected(visor) -> list[str]:
    found = call_robot(visor, "events", "--type", "deploy.*", "--limit", "1000")["items"]
    return [item["detection"]["captures"]["what"] for item in found]


def wait_for_more(visor, count: int) -> None:
    wanted = min(EVENT_COUNT, len(list_detected(visor)) + count)
    wait_until(lambda: len(list_detected(visor)) >= wanted, timeout_s=60)


@pytest.mark.live
def test_a_repeatedly_killed_daemon_stores_each_detection_once(scene, folder):
    visor = scene.visor
    write_rules(visor)
    script = Path(folder) / "printer.py"
    script.write_text(PRINTER)
    mux_id = scene.tmux.start_session(command="sh")
    pane_id = scene.wait_until_captured(mux_id)
    scene.tmux.type_line(mux_id, f"exec python3 {script}")
    rng = random.Random(7)
    for _ in range(2):
        wait_for_more(visor, rng.randrange(1, 8))
        os.kill(visor.daemon_pid, signal.SIGKILL)
    visor.call_robot("wait-for", str(pane_id), "^printed$", "--regex", "--timeout-secs", "60")
    wait_until(lambda: len(list_detected(visor)) >= EVENT_COUNT, timeout_s=30)
    assert list_detected(visor) == [f"n{number}" for number in range(1, EVENT_COUNT + 1)]
    lines = [line for line in scene.read_lines(mux_id) if line.startswith("DEPLOY FAILED")]
    assert lines == [f"DEPLOY FAILED: n{number}" for number in range(1, EVENT_COUNT + 1)]
    check_acknowledging(visor)


def check_acknowledging(visor) -> None:
    """Check that a handled event stays handled after a restart."""
    first = call_robot(visor, "events", "--unhandled", "--type", "deploy.*", "--limit", "1000")["items"][0]["cursor"]
    assert "marked as handled" in visor.run_checked("events", "ack", first, "--note", "by hand")
    os.kill(visor.daemon_pid, signal.SIGKILL)
    assert "was already handled" in visor.run_checked("events", "ack", f"event:{first}")
    unhandled = call_robot(visor, "events", "--unhandled", "--type", "deploy.*", "--limit", "1000")["items"]
    assert (len(unhandled), first in [item["cursor"] for item in unhandled]) == (EVENT_COUNT - 1, False)
    explained = visor.run_checked("explain", f"event:{first}")
    assert "A deployment failed." in explained
    assert "> " in explained
    assert visor.run("explain", "event:1")[0] == 4
