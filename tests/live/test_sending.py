"""`visor robot send` to real shells: the shell runs exactly the sent text, once."""

from pathlib import Path

import pytest

from tests.live.polling import wait_until
from tests.live.robot_shells import SHELLS, RobotShell, run_robot_scene
from tests.live.shell_setup import ShellHome


@pytest.fixture(scope="module")
def fleet():
    with run_robot_scene("send_text") as scene:
        yield scene


@pytest.fixture
def open_shell(fleet, tmp_path):
    def open_pane(shell: str) -> RobotShell:
        return RobotShell(fleet, ShellHome(tmp_path, shell).write_setup(fleet.visor.paths))

    return open_pane


@pytest.mark.parametrize("shell", SHELLS)
def test_a_command_with_a_key_is_delivered_once_and_its_output_is_matched(open_shell, shell):
    target = open_shell(shell)
    wait_until(lambda: target.activity["kind"] == "prompt")
    count = target.home / "count"
    count.write_text("#!/bin/sh\necho ran >> log\necho ran $(wc -l < log) times\n")
    count.chmod(0o755)
    status, sent = target.send("--key", f"to {shell}", "--wait-for", "ran 1 times", "./count")
    assert (status, sent["status"], sent["pattern_matched"]) == (0, "delivered", True)
    status, repeated = target.send("--key", f"to {shell}", "./count")
    assert (status, repeated["status"], repeated["is_repeated"]) == (0, "delivered", True)
    assert (target.home / "log").read_text() == "ran\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_text_typed_by_the_user_is_never_submitted(open_shell, shell):
    target = open_shell(shell)
    wait_until(lambda: target.activity["kind"] == "prompt")
    target.press_keys("-l", "rm -rf precious")
    wait_until(lambda: "rm -rf precious" in target.screen)
    status, details = target.send("true")
    assert (status, details["why"]) == (75, "input_not_empty")
    assert target.screen.endswith("rm -rf precious")


def test_a_sent_secret_stays_nowhere_but_in_the_raw_log(fleet, open_shell):
    token, word = "ghp_" + "a1B2c3D4" * 4 + "e5F6", "correcthorse staple"
    viewer = fleet.tmux.start_session("viewer", f"TMUX= exec tmux -S {fleet.tmux.socket} attach-session -t =keep:")
    client = wait_until(lambda: fleet.tmux("list-clients", "-F", "#{client_name}"))
    target = open_shell("bash")
    wait_until(lambda: target.activity["kind"] == "prompt")
    assert target.send(f": {token} {word}")[1]["status"] == "delivered"
    wait_until(lambda: fleet.visor.call_robot("health")["ingest_backlog_bytes"] == 0)
    paths = fleet.visor.paths
    files = [path for root in (paths.data_dir, paths.config_dir, paths.runtime_dir) for path in Path(root).rglob("*")]
    contents = [path.read_bytes() for path in files if path.is_file() and paths.raw_dir not in str(path)]
    assert len(contents) > 3
    assert [token[at : at + 8].encode() in content for content in contents for at in range(4, 33)].count(True) == 0
    kept = [
        fleet.tmux("show-messages", "-t", client),
        fleet.tmux("list-buffers"),
        fleet.tmux("show-environment", "-g"),
        fleet.tmux("show-environment", "-gh"),
        fleet.visor.run_checked("audit", "--limit", "20"),
    ]
    assert "send-keys" in kept[0]
    assert [token[at : at + 8] in text for text in kept for at in range(33)].count(True) == 0
    assert [text for text in kept[:4] if "correcthorse" in text or "staple" in text] == []
    fleet.tmux("kill-session", "-t", f"={fleet.tmux.read_format(viewer, '#{session_name}')}")
