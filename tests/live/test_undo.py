"""What was done is followed, taken back, exported and proven: through the real daemon and the real command."""

import asyncio
import os

import pytest

from termvisor.client import connect


@pytest.fixture
def pane(scene, shell) -> tuple[str, str]:
    """tmux's name and our number of a pane that is heard."""
    return shell, str(scene.find_pane_id(shell))


async def test_what_others_do_is_pushed_to_whoever_follows_the_record(scene, pane):
    _, ours = pane
    async with connect(scene.visor.paths, start=False) as visor:
        pieces = visor.audit(follow=True, kind="set_title")
        assert (await anext(pieces))["items"] == []
        done = await asyncio.to_thread(scene.visor.call_robot, "set-title", ours, "release", "build")
        heard = [item for _ in range(2) for item in (await anext(pieces))["items"]]
        await pieces.aclose()
        assert [(item["stage"], item["outcome"]) for item in heard] == [("intent", ""), ("outcome", "done")]
        assert {item["correlation"] for item in heard} == {done["correlation"]}


def test_an_action_is_taken_back_once_and_the_record_is_proven_elsewhere(scene, pane, tmp_path):
    mux_id, ours = pane
    scene.tmux("select-pane", "-t", mux_id, "-T", "before")
    done = scene.visor.call_robot("set-title", ours, "release", "build")
    undone = scene.visor.call_robot("undo")
    assert (undone["undoes"], scene.tmux.read_format(mux_id, "#{pane_title}")) == (done["correlation"], "before")
    status, out, _ = scene.visor.run("robot", "undo", done["correlation"])
    assert (status, "already_undone" in out) == (75, True)
    held = scene.visor.call_robot("reserve", ours, "--owner", "ann")
    assert scene.visor.call_robot("undo")["what"].startswith(f"release its reservation {held['reservation_id']}")
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
"""


def test_to_close_what_was_started_is_asked_about_like_every_end_of_a_pane(scene, pane):
    _, ours = pane
    os.makedirs(scene.visor.paths.config_dir, exist_ok=True)
    with open(f"{scene.visor.paths.config_dir}/policy.toml", "w") as file:
        file.write(POLICY)
    made = scene.visor.call_robot("spawn", "--beside", ours, "--", "sleep", "600")
    status, out, _ = scene.visor.run("robot", "undo")
    assert (status, "unconfirmed" in out, "close the pane" in out) == (2, True, True)
    status, out, _ = scene.visor.run("robot", "undo", "--yes")
    assert (status, "needs_approval" in out) == (77, True)
    (question,) = scene.visor.call_robot("inbox")["items"]
    assert (question["kind"], question["risk"], question["pane"]) == ("kill", "destructive", made["new"]["id"])
    assert scene.tmux.read_format(made["mux_pane"], "#{pane_dead}") == "0"
