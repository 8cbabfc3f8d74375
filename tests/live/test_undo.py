"""Following, undoing, exporting and verifying actions with a real daemon."""

import asyncio
import os

import pytest

from termvisor.client import connect


@pytest.fixture
def pane(scene, shell) -> tuple[str, str]:
    """tmux's id and the number of a captured pane."""
    return shell, str(scene.find_pane_id(shell))


async def test_audit_follow_pushes_the_actions_of_other_clients(scene, pane):
    _, pane_id = pane
    async with connect(scene.visor.paths, start=False) as visor:
        updates = visor.audit(follow=True, kind="set_title")
        assert (await anext(updates))["items"] == []
        titled = await asyncio.to_thread(scene.visor.call_robot, "set-title", pane_id, "release", "build")
        entries = [item for _ in range(2) for item in (await anext(updates))["items"]]
        await updates.aclose()
        assert [(item["stage"], item["outcome"]) for item in entries] == [("intent", ""), ("outcome", "done")]
        assert {item["correlation"] for item in entries} == {titled["correlation"]}


def test_an_action_is_undone_once_and_an_exported_audit_log_verifies_offline(scene, pane, tmp_path):
    mux_id, pane_id = pane
    scene.tmux("select-pane", "-t", mux_id, "-T", "before")
    titled = scene.visor.call_robot("set-title", pane_id, "release", "build")
    undone = scene.visor.call_robot("undo")
    assert (undone["undoes"], scene.tmux.read_format(mux_id, "#{pane_title}")) == (titled["correlation"], "before")
    status, out, _ = scene.visor.run("robot", "--full", "undo", titled["correlation"])
    assert (status, "already_undone" in out) == (75, True)
    reservation = scene.visor.call_robot("reserve", pane_id, "--owner", "ann")
    assert scene.visor.call_robot("undo")["what"].startswith(f"release its reservation {reservation['reservation_id']}")
    file = tmp_path / "record.jsonl"
    scene.visor.run_checked("audit", "export", "--output", str(file))
    scene.visor.stop()
    assert "The file is intact." in scene.visor.run_checked("audit", "verify", "--file", str(file))
    file.write_text(file.read_text().replace("release build", "release burnt", 1))
    status, out, _ = scene.visor.run("audit", "verify", "--file", str(file))
    assert (status, out) == (1, "The file is broken at entry 1: its content was changed.\n")


POLICY = """
[[rule]]
id = "robots_may_start"
when = { kind = ["spawn"] }
answer = "allow"
[commands]
unknown_effect = "allow"
"""


def test_undoing_a_spawn_needs_approval_like_any_kill(scene, pane):
    _, pane_id = pane
    os.makedirs(scene.visor.paths.config_dir, exist_ok=True)
    with open(f"{scene.visor.paths.config_dir}/policy.toml", "w") as file:
        file.write(POLICY)
    spawned = scene.visor.call_robot("spawn", "--beside", pane_id, "--", "sleep", "600")
    status, out, _ = scene.visor.run("robot", "--full", "undo")
    assert (status, "unconfirmed" in out, "close the pane" in out) == (2, True, True)
    status, out, _ = scene.visor.run("robot", "--full", "undo", "--yes")
    assert (status, "needs_approval" in out) == (77, True)
    (request,) = scene.visor.call_robot("inbox")["items"]
    assert (request["kind"], request["risk"], request["pane"]) == ("kill", "destructive", spawned["new"]["id"])
    assert scene.tmux.read_format(spawned["mux_pane"], "#{pane_dead}") == "0"
