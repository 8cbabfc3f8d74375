"""What a program prints is one event: however it is printed, and however often the daemon is killed meanwhile."""

import os
import random
import signal
from pathlib import Path

from tests.live.polling import wait_until
from tests.live.robot_call import call_robot

MANY = 24
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


def with_rules(visor) -> None:
    pack = Path(visor.paths.config_dir) / "packs" / "org.local"
    pack.mkdir(parents=True)
    (pack / "deploy_failed.toml").write_text(RULE)
    (pack / "broken.toml").write_text(BROKEN)


def detected(visor) -> list[str]:
    found = call_robot(visor, "events", "--type", "deploy.*", "--limit", "1000")["items"]
    return [item["detection"]["captures"]["what"] for item in found]


def wait_for_more(visor, many: int) -> None:
    wanted = min(MANY, len(detected(visor)) + many)
    wait_until(lambda: len(detected(visor)) >= wanted, timeout_s=60)


def test_killed_again_and_again_it_tells_everything_once(scene, folder):
    visor = scene.visor
    with_rules(visor)
    script = Path(folder) / "printer.py"
    script.write_text(PRINTER)
    mux_id = scene.tmux.start_session(command="sh")
    ours = scene.wait_until_captured(mux_id)
    scene.tmux.type_line(mux_id, f"exec python3 {script}")
    chance = random.Random(7)
    for _ in range(2):
        wait_for_more(visor, chance.randrange(1, 8))
        os.kill(visor.daemon_pid, signal.SIGKILL)
    visor.call_robot("wait-for", str(ours), "^printed$", "--regex", "--timeout-secs", "60")
    wait_until(lambda: len(detected(visor)) >= MANY, timeout_s=30)
    assert detected(visor) == [f"n{number}" for number in range(1, MANY + 1)]
    lines = [line for line in scene.read_lines(mux_id) if line.startswith("DEPLOY FAILED")]
    assert lines == [f"DEPLOY FAILED: n{number}" for number in range(1, MANY + 1)]
    acknowledged(visor)


def acknowledged(visor) -> None:
    """What is seen to stays so, also for the next daemon; what is muted is stored and asks for nobody."""
    first = call_robot(visor, "events", "--unhandled", "--type", "deploy.*", "--limit", "1000")["items"][0]["cursor"]
    assert "marked as handled" in visor.run_checked("events", "ack", first, "--note", "by hand")
    os.kill(visor.daemon_pid, signal.SIGKILL)
    assert "was already handled" in visor.run_checked("events", "ack", f"event:{first}")
    left = call_robot(visor, "events", "--unhandled", "--type", "deploy.*", "--limit", "1000")["items"]
    assert (len(left), first in [item["cursor"] for item in left]) == (MANY - 1, False)
    explained = visor.run_checked("explain", f"event:{first}")
    assert "A deployment failed." in explained
    assert "> " in explained
    assert visor.run("explain", "event:1")[0] == 4
