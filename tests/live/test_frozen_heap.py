"""What the daemon made at its start is never searched for garbage again: what takes its place must not pile up."""

from pathlib import Path

import pytest

from tests.live.polling import wait_until
from tests.live.robot_call import call_robot

RULE = """
id = "org.deploy.failed"
since = "1"
scope = "line"
anchors = ["DEPLOY FAILED"]
pattern = '^DEPLOY FAILED: (?P<what>\\w+)'
event = "deploy.failed"
severity = "error"
cooldown = 0
why = "A deployment failed, as version {} of this rule says."
[[hit]]
text = "DEPLOY FAILED: web"
captures = {{ what = "web" }}
[[miss]]
text = "DEPLOY OK: web"
"""
EVENTS = 40
FIRST, THEN = 10, 30
ROOM = 3 << 20
"""Bytes by which it may be larger after three times as much."""
pytestmark = pytest.mark.live


def rounds(scene, mux_id: str, numbers: range) -> None:
    """In each the rules are replaced by others, settings are read again, and events are found, stored and told."""
    pack = Path(scene.visor.paths.config_dir) / "packs" / "org.local"
    pack.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        (pack / "deploy_failed.toml").write_text(RULE.format(number))
        scene.visor.run_checked("config", "reload")
        wait_until(
            lambda now=number: f"version {now} " in str(call_robot(scene.visor, "rules", "show", "org.deploy.failed"))
        )
        words = f"i=0; while [ $i -lt {EVENTS} ]; do i=$((i+1)); echo DEPLOY FAILED: n{number}x$i; done"
        scene.tmux.type_line(mux_id, words)
        wait_until(lambda now=number: found(scene, f"n{now}x{EVENTS}"), timeout_s=30)


def found(scene, what: str) -> bool:
    items = call_robot(scene.visor, "events", "--type", "deploy.*", "--limit", "1")["items"]
    return bool(items) and items[-1]["detection"]["captures"]["what"] == what


def resident(scene) -> int:
    return call_robot(scene.visor, "health")["daemon"]["rss_bytes"]


@pytest.mark.timeout(600)
def test_rules_that_come_and_go_and_many_events_leave_it_as_large_as_it_was(scene, shell):
    pid = scene.visor.daemon_pid
    rounds(scene, shell, range(FIRST))
    early = resident(scene)
    rounds(scene, shell, range(FIRST, FIRST + THEN))
    wait_until(lambda: resident(scene) <= early + ROOM, timeout_s=60)
    assert scene.visor.daemon_pid == pid
    assert len(call_robot(scene.visor, "events", "--type", "deploy.*", "--limit", "10000")["items"]) == EVENTS * (
        FIRST + THEN
    )
