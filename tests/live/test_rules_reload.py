"""Reloading rules while the daemon runs, and a pattern that crashes Hyperscan."""

from pathlib import Path

from tests.live.polling import wait_until
from tests.live.robot_call import call_robot
from tests.live.test_events import BROKEN, RULE
from tests.unit.regex.test_isolated_compile import CRASHES

STREAM_RULE = """
id = "org.deploy.lost"
since = "1"
scope = "stream"
pattern = '^DEPLOY BEGAN: (?P<what>\\w+)\\nDEPLOY LOST'
event = "deploy.lost"
why = "A deployment was lost."
[[hit]]
text = "DEPLOY BEGAN: web\\nDEPLOY LOST"
captures = { what = "web" }
[[miss]]
text = "DEPLOY LOST"
"""


def list_captured_names(visor) -> list[str]:
    found = call_robot(visor, "events", "--type", "deploy.*", "--limit", "100")["items"]
    return [item["detection"]["captures"]["what"] for item in found]


def test_reloaded_rules_take_effect_without_a_restart_and_miss_no_line(scene):
    visor, pack = scene.visor, Path(scene.visor.paths.config_dir) / "packs" / "org.local"
    visor.allow_changes()
    pack.mkdir(parents=True)
    (pack / "wide.toml").write_text(STREAM_RULE)
    mux_id = scene.tmux.start_session(command="cat")
    scene.wait_until_captured(mux_id)
    pid = visor.daemon_pid
    scene.tmux.type_line(mux_id, "DEPLOY FAILED: early")
    scene.tmux.type_line(mux_id, "DEPLOY BEGAN: shop")
    wait_until(lambda: "DEPLOY BEGAN: shop" in scene.read_lines(mux_id))
    (pack / "failed.toml").write_text(RULE)
    assert "active" in visor.run_checked("config", "reload")
    (pack / "wrong.toml").write_text(BROKEN)
    status, out, _ = visor.run("config", "reload")
    assert (status, "wrong.toml" in out, "stay active" in out) == (78, True, True)
    scene.tmux.type_line(mux_id, "DEPLOY LOST")
    scene.tmux.type_line(mux_id, "DEPLOY FAILED: late")
    wait_until(lambda: set(list_captured_names(visor)) >= {"shop", "late"})
    assert "early" not in list_captured_names(visor)
    assert visor.daemon_pid == pid
    assert scene.list_event_kinds().count("rules_reloaded") == 1


def test_a_pattern_that_crashes_hyperscan_does_not_crash_the_daemon(scene):
    visor = scene.visor
    mux_id = scene.tmux.start_session(command="cat", width=200)
    scene.wait_until_captured(mux_id)
    pid = visor.daemon_pid
    visor.allow_changes()
    patterns = f"redact_patterns = ['{CRASHES}', 'ACME-[0-9]+']\n"
    Path(visor.paths.config_file).write_text(patterns, encoding="utf-8")
    assert "redact_patterns" in visor.run_checked("config", "reload")
    scene.tmux.type_line(mux_id, "aaéax1 " * 20)
    scene.tmux.type_line(mux_id, "my ACME-123")
    wait_until(lambda: "my [redacted:custom_2]" in scene.read_lines(mux_id))
    assert visor.daemon_pid == pid
    assert "Hyperscan crashes on it" in visor.run("doctor")[1]
