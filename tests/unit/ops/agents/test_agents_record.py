"""`agents record` writes what a pane shows with the user's label, and `agents test` replays it."""

from pathlib import Path

import pytest

from termvisor.settings import Paths
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services
from tests.unit.ops.rules.test_rules_list import build_services

HEAD = '{"kind":"state","at":"2026-11-18T17:00:00.000Z","state":"STATE","agent":"aider","agent_version":"0.86.2"}\n'
SCREEN = (
    '{"kind":"screen","at":"2026-11-18T17:00:00.100Z","width":80,"height":24,"cursor_x":6,"cursor_y":2,'
    '"rows":["Tokens: 2.5k sent, 5 received.","────────────────────────────────","diff>"]}\n'
)


async def test_the_screens_of_a_pane_are_recorded_with_the_label(tmp_path: Path) -> None:
    services = await build_sample_services(Paths(str(tmp_path), str(tmp_path), str(tmp_path)), op="agents_record")
    result = await run_command(services, "agents", "record", "2", "--shows", "waiting_input", "--secs", "0")
    head, screen, *_ = result.items
    assert (head["kind"], head["state"]) == ("state", "waiting_input")
    assert head["agent"]
    assert "Fix the tests?" in screen["rows"][0]


async def test_a_pane_without_an_agent_needs_a_name(tmp_path: Path) -> None:
    services = await build_sample_services(Paths(str(tmp_path), str(tmp_path), str(tmp_path)), op="agents_record")
    result = await run_command(services, "agents", "record", "1", "--shows", "idle", "--secs", "0")
    assert "no known agent runs in pane 1" in result.err
    named = await run_command(services, "agents", "record", "1", "--shows", "idle", "--secs", "0", "--agent", "mine")
    assert named.items[0]["agent"] == "mine"


@pytest.mark.parametrize(
    ("states", "status", "text"),
    [
        (["completed"], 0, "mine.jsonl ok, 1 example classified as expected"),
        (["idle", "completed"], 0, "mine.jsonl ok, 2 examples classified as expected"),
        (["idle", "running"], 78, "part 2 shows running, but is recognized as completed"),
    ],
)
async def test_a_recording_is_replayed(tmp_path: Path, states: list[str], status: int, text: str) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(HEAD.replace("STATE", state) + SCREEN for state in states))
    result = await run_command(build_services(tmp_path), "agents", "test", str(path))
    assert (result.status, text in result.out) == (status, True), result.out


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "it is empty"),
        ("no JSON\n", "it was not written by `visor agents record`"),
        (SCREEN, "it does not start with a state"),
        (HEAD.replace("STATE", "idle"), "line 1 is followed by no screen"),
    ],
)
async def test_another_file_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(content)
    result = await run_command(build_services(tmp_path), "agents", "test", str(path))
    assert result.status != 0
    assert problem in result.err
