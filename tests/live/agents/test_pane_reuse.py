"""A new agent in a reused pane inherits nothing: no late hook, no old screen, no registry file of a dead process."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.agents.agent_programs import CLAUDE, CODEX
from tests.live.agents.multi_agent_scene import MultiAgentScene, ShellPane, build_shell_command, open_multi_agent_scene
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot

pytestmark = pytest.mark.live

HOUR = 3600


@pytest.fixture(scope="module")
def multi_scene() -> Iterator[MultiAgentScene]:
    with open_multi_agent_scene() as found:
        yield found


def test_a_reused_pane_ignores_late_signals_and_files_of_the_previous_agent(multi_scene):
    folders = multi_scene.prepare_folders("reuse", CLAUDE)
    CODEX.prepare(folders)
    pane = multi_scene.start(CLAUDE, folders)
    pane.wait_for_state("idle", seconds=60)
    pane.send_prompt("MODEL shell touch made")
    pane.wait_for_state("waiting_approval")
    pane.wait_for_text("Do you want to")
    first, old_screen = pane.began_events[-1]["pid"], pane.screen
    old_registry = (folders.home / ".claude/sessions" / f"{first}.json").read_text()
    multi_scene.scene.tmux("respawn-pane", "-k", "-t", pane.mux_id, "bash --norc")
    # A respawned pane is another instance, which is not listed at once.
    wait_until(lambda: pane.pane_row.get("agent", "not listed") is None)

    (folders.folder / "picture").write_text(old_screen)
    pane.type(f"clear; cat {folders.folder}/picture; sleep 3")
    pane.wait_for_text("Do you want to")
    assert pane.pane_row["agent"] is None, "a printed screen is no agent"

    pane.type(build_shell_command(CLAUDE, folders))
    pane.wait_for_state("idle", seconds=60)
    second = pane.began_events[-1]["pid"]
    assert second != first
    registry_file = folders.home / ".claude/sessions" / f"{second}.json"
    own_registry = registry_file.read_text()
    records_before = count_hook_records(multi_scene)
    append_late_hook(multi_scene, pane, first, time.time())
    append_late_hook(multi_scene, pane, second, time.time() - HOUR)
    (folders.home / ".claude/sessions" / f"{first}.json").write_text(old_registry)
    registry_file.write_text(old_registry.replace(f'"pid":{first}', f'"pid":{second}'))
    wait_until(lambda: count_hook_records(multi_scene) == records_before + 2)
    assert {pane.pane_row["state"] for _ in range(20)} == {"idle"}, (
        "signals of an exited process or of an earlier process with this pid must be ignored"
    )
    registry_file.write_text(own_registry)
    pane.send_prompt("MODEL slow 3")
    assert pane.wait_for_state("running")["source"] == "registry"
    pane.wait_for_state("idle", "completed")

    pane.type("/exit")
    pane.press("Enter")
    wait_until(lambda: pane.pane_row["agent"] is None)
    pane.type(build_shell_command(CODEX, folders))
    assert pane.wait_for_state("idle", seconds=60)["agent"] == "codex"
    append_late_hook(multi_scene, pane, second, time.time())
    assert {pane.pane_row["agent"] for _ in range(10)} == {"codex"}


def append_late_hook(multi_scene: MultiAgentScene, pane: ShellPane, pid: int, at: float) -> None:
    """Append a hook line with a permission request of a process in that pane."""
    line = {
        "v": 1,
        "agent": "claude_code",
        "event": "PermissionRequest",
        "at": int(at * 1000),
        "pane": pane.mux_id,
        "tmux": f"{multi_scene.scene.tmux.socket},1,0",
        "pid": pid,
        "payload": {"hook_event_name": "PermissionRequest", "session_id": "late", "tool_name": "Bash"},
    }
    with (Path(multi_scene.scene.visor.paths.spool_dir) / "hooks.jsonl").open("a") as spool:
        spool.write(json.dumps(line) + "\n")


def count_hook_records(multi_scene: MultiAgentScene) -> int:
    return sum(
        item["records"]
        for item in call_robot(multi_scene.scene.visor, "list-sources")["items"]
        if item["source"] == "hook"
    )
