"""Memory with a frozen heap: objects from the start are never collected, so their replacements must not accumulate."""

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
FIRST, MORE = 10, 30
MAX_GROWTH = 3 << 20
"""Allowed growth in bytes after three times as many rounds."""
pytestmark = pytest.mark.live


def run_rounds(scene, mux_id: str, numbers: range) -> None:
    """In each round replace the rules, reload the settings, and detect and store events."""
    pack = Path(scene.visor.paths.config_dir) / "packs" / "org.local"
    pack.mkdir(parents=True, exist_ok=True)
    scene.visor.allow_changes()
    for number in numbers:
        (pack / "deploy_failed.toml").write_text(RULE.format(number))
        scene.visor.run_checked("config", "reload")
        wait_until(
            lambda now=number: f"version {now} " in str(call_robot(scene.visor, "rules", "show", "org.deploy.failed"))
        )
        words = f"i=0; while [ $i -lt {EVENTS} ]; do i=$((i+1)); echo DEPLOY FAILED: n{number}x$i; done"
        scene.tmux.type_line(mux_id, words)
        wait_until(lambda now=number: is_detected(scene, f"n{now}x{EVENTS}"), timeout_s=30)


def is_detected(scene, what: str) -> bool:
    items = call_robot(scene.visor, "events", "--type", "deploy.*", "--limit", "1")["items"]
    return bool(items) and items[-1]["detection"]["captures"]["what"] == what


def read_resident_bytes(scene) -> int:
    return call_robot(scene.visor, "health")["daemon"]["rss_bytes"]


@pytest.mark.timeout(600)
def test_reloaded_rules_and_many_events_do_not_grow_the_daemon(scene, shell):
    pid = scene.visor.daemon_pid
    run_rounds(scene, shell, range(FIRST))
    early = read_resident_bytes(scene)
    run_rounds(scene, shell, range(FIRST, FIRST + MORE))
    wait_until(lambda: read_resident_bytes(scene) <= early + MAX_GROWTH, timeout_s=60)
    assert scene.visor.daemon_pid == pid
    assert len(call_robot(scene.visor, "events", "--type", "deploy.*", "--limit", "10000")["items"]) == EVENTS * (
        FIRST + MORE
    )
