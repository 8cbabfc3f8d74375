"""Who comes after another one in the same place has nothing of it: no late word, no picture, no file of a dead pid."""

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
def one() -> Iterator[MultiAgentScene]:
    with open_multi_agent_scene() as found:
        yield found


def test_a_pane_that_is_used_again(one):
    place = one.prepare_folders("reuse", CLAUDE)
    CODEX.prepare(place)
    seat = one.start(CLAUDE, place)
    seat.wait_for_state("idle", seconds=60)
    seat.send_prompt("MODEL shell touch made")
    seat.wait_for_state("waiting_approval")
    seat.wait_for_text("Do you want to")
    first, picture = seat.began_events[-1]["pid"], seat.screen
    left = (place.home / ".claude/sessions" / f"{first}.json").read_text()
    one.scene.tmux("respawn-pane", "-k", "-t", seat.mux_id, "bash --norc")
    wait_until(lambda: seat.pane_row["agent"] is None)

    (place.folder / "picture").write_text(picture)
    seat.type(f"clear; cat {place.folder}/picture; sleep 3")
    seat.wait_for_text("Do you want to")
    assert seat.pane_row["agent"] is None, "a picture is nobody"

    seat.type(build_shell_command(CLAUDE, place))
    seat.wait_for_state("idle", seconds=60)
    second = seat.began_events[-1]["pid"]
    assert second != first
    own = place.home / ".claude/sessions" / f"{second}.json"
    kept = own.read_text()
    heard = hooks_heard(one)
    late(one, seat, first, time.time())
    late(one, seat, second, time.time() - HOUR)
    (place.home / ".claude/sessions" / f"{first}.json").write_text(left)
    own.write_text(left.replace(f'"pid":{first}', f'"pid":{second}'))
    wait_until(lambda: hooks_heard(one) == heard + 2)
    assert {seat.pane_row["state"] for _ in range(20)} == {"idle"}, "words of the dead, and of another life of the pid"
    own.write_text(kept)
    seat.send_prompt("MODEL slow 3")
    assert seat.wait_for_state("running")["source"] == "registry"
    seat.wait_for_state("idle", "completed")

    seat.type("/exit")
    seat.press("Enter")
    wait_until(lambda: seat.pane_row["agent"] is None)
    seat.type(build_shell_command(CODEX, place))
    assert seat.wait_for_state("idle", seconds=60)["agent"] == "codex"
    late(one, seat, second, time.time())
    assert {seat.pane_row["agent"] for _ in range(10)} == {"codex"}


def late(one: MultiAgentScene, seat: ShellPane, pid: int, at: float) -> None:
    """A hook's line of a process in that pane, which asks for leave."""
    line = {
        "v": 1,
        "agent": "claude_code",
        "event": "PermissionRequest",
        "at": int(at * 1000),
        "pane": seat.mux_id,
        "tmux": f"{one.scene.tmux.socket},1,0",
        "pid": pid,
        "payload": {"hook_event_name": "PermissionRequest", "session_id": "late", "tool_name": "Bash"},
    }
    with (Path(one.scene.visor.paths.spool_dir) / "hooks.jsonl").open("a") as spool:
        spool.write(json.dumps(line) + "\n")


def hooks_heard(one: MultiAgentScene) -> int:
    return sum(
        item["records"] for item in call_robot(one.scene.visor, "list-sources")["items"] if item["source"] == "hook"
    )
