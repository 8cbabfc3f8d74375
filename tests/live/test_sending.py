"""Programs that send to real shells by the command line: what was said is what the shell ran, once."""

import json
from pathlib import Path

import pytest

from tests.live.conftest import run_watched_tmux
from tests.live.polling import wait_until
from tests.live.shell_setup import ShellHome, ShellPane

live = pytest.mark.live
SHELLS = ["bash", pytest.param("zsh", marks=live), pytest.param("fish", marks=live)]
POLICY = """
[[rule]]
id = "programs_may_type"
when = { actor = ["robot"], kind = ["send_text"] }
answer = "allow"
"""


@pytest.fixture(scope="module")
def fleet():
    with run_watched_tmux() as scene:
        config = Path(scene.visor.paths.config_dir)
        config.mkdir(parents=True, exist_ok=True)
        (config / "policy.toml").write_text(POLICY)
        (config / "policy.toml").chmod(0o600)
        scene.tmux.start_session("keep", "sleep 1000")
        scene.list_panes()
        yield scene


@pytest.fixture
def sit(fleet, tmp_path):
    def opened(shell: str) -> "Person":
        return Person(fleet, ShellHome(tmp_path, shell).write_setup(fleet.visor.paths.nonce_file))

    return opened


class Person(ShellPane):
    """Whose shell a program sends to."""

    @property
    def home(self) -> Path:
        return self._home.folder

    def send(self, *words: str) -> tuple[int, dict]:
        """Exit status, and the data or the error's details."""
        status, out, _ = self._scene.visor.run("robot", "send", str(self.pane_id), *words)
        answer = json.loads(out)
        return status, answer["data"] if answer["ok"] else answer["error"]["details"]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_command_is_delivered_once_and_its_answer_comes_back(sit, shell):
    one = sit(shell)
    wait_until(lambda: one.activity["kind"] == "prompt")
    count = one.home / "count"
    count.write_text("#!/bin/sh\necho ran >> log\necho ran $(wc -l < log) times\n")
    count.chmod(0o755)
    status, sent = one.send("--key", f"to {shell}", "--wait-for", "ran 1 times", "./count")
    assert (status, sent["status"], sent["pattern_matched"]) == (0, "delivered", True)
    status, again = one.send("--key", f"to {shell}", "./count")
    assert (status, again["status"], again["is_repeated"]) == (0, "delivered", True)
    assert (one.home / "log").read_text() == "ran\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_what_a_person_typed_is_never_submitted(sit, shell):
    one = sit(shell)
    wait_until(lambda: one.activity["kind"] == "prompt")
    one.press_keys("-l", "rm -rf precious")
    wait_until(lambda: "rm -rf precious" in one.screen)
    status, refused = one.send("true")
    assert (status, refused["why"]) == (75, "input_not_empty")
    assert one.screen.endswith("rm -rf precious")
