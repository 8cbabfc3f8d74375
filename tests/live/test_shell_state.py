"""Shells whose first prompt was not captured are known by the state that they recorded, so that `send` reaches them."""

from pathlib import Path

import pytest

from tests.live.conftest import WatchedTmux
from tests.live.polling import wait_until
from tests.live.robot_shells import SHELLS, RobotShell, allow_robots, live
from tests.live.shell_setup import ShellHome


class EarlyShell(RobotShell):
    """A shell that shows its prompt before anything captures its pane."""

    def __init__(self, scene: WatchedTmux, home: ShellHome, **further: str):
        (home.folder / "go").touch()
        self._scene, self._home, self._prompt_count = scene, home, 1
        self._mux_id = scene.tmux.start_session("", home.build_command(**further), width=90, height=20)
        wait_until(lambda: self.screen.endswith("left>"))

    def start_watching(self) -> None:
        """Start the daemon and wait until the pane is captured."""
        self.pane_id = self._scene.wait_until_captured(self._mux_id)

    @property
    def state_file(self) -> Path:
        pid = self._scene.tmux("display-message", "-p", "-t", self._mux_id, "#{pane_pid}")
        return Path(self._scene.visor.paths.shell_state_dir, pid)

    @property
    def commands(self) -> list[dict]:
        return self._scene.visor.call_robot("commands", "--pane", str(self.pane_id))["items"]


@pytest.fixture
def open_shell(scene, tmp_path):
    """Return a function that opens a pane with a shell; no daemon runs yet."""
    allow_robots(scene.visor, "send_text")

    def open_pane(shell: str, text: str = "", **further: str) -> EarlyShell:
        return EarlyShell(scene, ShellHome(tmp_path, shell, text).write_setup(scene.visor.paths), **further)

    return open_pane


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_older_than_the_daemon_is_at_its_prompt_and_takes_text(open_shell, tmp_path, shell):
    early = open_shell(shell)
    early.run_lines("sh -c 'exit 3'")
    early.start_watching()
    assert early.is_at_prompt(3)
    status, sent = early.send("touch sent")
    assert (status, sent["status"]) == (0, "delivered")
    wait_until((tmp_path / "sent").exists)
    assert [(item["command"], item["cwd"]) for item in early.commands] == [("touch sent", str(tmp_path))]


@pytest.mark.parametrize("shell", SHELLS)
def test_text_typed_before_the_daemon_started_is_never_submitted(open_shell, shell):
    early = open_shell(shell)
    early.press_keys("-l", "rm -rf precious")
    wait_until(lambda: "rm -rf precious" in early.screen)
    early.start_watching()
    assert early.activity["kind"] == "prompt"
    status, details = early.send("true")
    assert (status, details["why"] in ("input_not_empty", "prompt_not_found")) == (75, True)
    assert early.screen.endswith("rm -rf precious")


@pytest.mark.parametrize("shell", SHELLS)
def test_a_command_older_than_the_daemon_is_running_and_its_end_is_recorded(open_shell, tmp_path, shell):
    early = open_shell(shell)
    early.type_line("sh -c 'touch began; sleep 1000'")
    wait_until((tmp_path / "began").exists)
    early.start_watching()
    assert (early.activity["kind"], early.activity["is_proven"]) == ("command", True)
    assert [(item["status"], item["cwd"]) for item in early.commands] == [("running", str(tmp_path))]
    early.press_keys("C-c")
    wait_until(lambda: early.is_at_prompt(130))
    assert [(item["status"], item["exit_code"]) for item in early.commands] == [("finished", 130)]


def test_a_shell_is_known_after_the_daemon_was_stopped_and_started(scene, open_shell):
    early = open_shell("bash")
    early.start_watching()
    scene.visor.run_checked("down")
    early.run_lines("cd /", "(exit 7)")
    early.start_watching()
    assert early.is_at_prompt(7)
    early.run_lines("true")
    wait_until(lambda: [item["cwd"] for item in early.commands] == ["/"])


def test_the_innermost_shell_decides(open_shell):
    early = open_shell("bash")
    early.run_lines("bash", "(exit 4)")
    early.start_watching()
    assert early.is_at_prompt(4)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_state_file_is_private_and_holds_no_text_of_the_user(open_shell, shell):
    early = open_shell(shell, "umask 022\n")
    early.run_lines("echo a-secret-word")
    record = early.state_file.read_text()
    assert early.state_file.stat().st_mode & 0o777 == 0o600
    assert record.startswith("visor1 ")
    assert "a-secret-word" not in record


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_works_without_a_folder_for_its_state(scene, open_shell, shell):
    early = open_shell(shell)
    folder = Path(scene.visor.paths.shell_state_dir)
    early.state_file.unlink()
    folder.rmdir()
    folder.symlink_to("/nowhere")
    early.run_lines("true")
    assert early.screen.splitlines()[-2:] == ["left> true", "left>"]
    folder.unlink()
    folder.mkdir(mode=0o700)
    early.run_lines("true")
    assert early.state_file.stat().st_mode & 0o777 == 0o600


def test_a_start_file_that_reads_a_line_is_not_a_prompt(scene, open_shell, tmp_path):
    early = open_shell("bash")
    with (tmp_path / ".bashrc").open("a") as file:
        file.write("read -e -p name? name\n")
    early.type_line("exec bash")
    wait_until(lambda: early.screen.endswith("name?"))
    early.start_watching()
    assert early.activity["kind"] == "unknown"


COMPUTED_PROMPTS = [
    pytest.param("zsh", "setopt prompt_subst; PS1='$(echo left)> '\n", 0, "delivered", marks=live),
    pytest.param("bash", "PS1='$(echo left)> '\n", 75, "prompt_not_found"),
    pytest.param("bash", "PS1='\\[\\e[1;32m\\]\\u\\[\\e[0m\\] left> '\n", 0, "delivered"),
]


@pytest.mark.parametrize(("shell", "text", "status", "outcome"), COMPUTED_PROMPTS)
def test_text_is_sent_only_if_the_place_of_the_input_is_certain(open_shell, shell, text, status, outcome):
    early = open_shell(shell, text)
    early.start_watching()
    found, answer = early.send("true")
    assert (found, answer.get("why", "") if found else answer["status"]) == (status, outcome)
