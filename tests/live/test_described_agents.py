"""An agent that only a file describes, in a real tmux: states, a prompt, and an answered permission request."""

import sys
from pathlib import Path

import pytest

from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import run_instance
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot
from tests.pattern_cache import install_pattern_cache
from tests.unit.agents.adapters import described_agent

# The shell sends no marks, so it is not proven what the pane is doing.
POLICY = """
unproven_prompt = true
[[rule]]
id = "free"
answer = "allow"
when = { kind = ["send_text", "interrupt"] }
[commands]
unknown_effect = "allow"
"""


class Scene:
    def __init__(self, tmux, visor, folder):
        self.tmux, self.visor, self.folder = tmux, visor, Path(folder)
        self.mux_pane = tmux.start_session(command="bash --norc --noprofile")

    def start_agent(self) -> None:
        program = described_agent.write_program(self.folder)
        self.tmux.type_line(self.mux_pane, f"cd {self.folder} && {sys.executable} {program}")

    def find_row(self) -> dict:
        rows = call_robot(self.visor, "state")["items"]
        return next((one for one in rows if one.get("agent") == described_agent.AGENT), {})

    def wait_for_state(self, state: str) -> dict:
        return wait_until(lambda: (row := self.find_row()).get("state") == state and row, timeout_s=30)

    @property
    def pane(self) -> str:
        return str(self.find_row()["identity"]["id"])

    def send(self, text: str) -> dict:
        return self.visor.call_robot("send", self.pane, text)


@pytest.fixture
def scene():
    with (
        make_short_folder() as folder,
        run_private_tmux(folder) as tmux,
        run_instance(folder, tmux.socket, agent_inbox="all") as visor,
    ):
        install_pattern_cache(visor.paths)
        described_agent.write_description(visor.paths.config_dir)
        Path(visor.paths.policy_file).write_text(POLICY)
        scene = Scene(tmux, visor, folder)
        visor.start()
        yield scene


@pytest.mark.live
def test_a_described_agent_has_states_takes_prompts_and_is_answered(scene):
    scene.start_agent()
    scene.wait_for_state("idle")
    kinds = {one["name"]: one for one in call_robot(scene.visor, "agents", "list")["items"]}
    kind = kinds[described_agent.AGENT]
    assert (kind["states"], kind["recorded"], kind["start"]) == ("proven", ["1.0"], ["toy-coder"])
    assert kinds["amp"]["states"] == "unproven"

    scene.send("hello")
    scene.wait_for_state("completed")
    scene.send("work")
    scene.wait_for_state("running")
    scene.visor.call_robot("interrupt", scene.pane)
    scene.wait_for_state("idle")

    scene.send("ask")
    scene.wait_for_state("waiting_approval")
    explained = call_robot(scene.visor, "explain", scene.pane)
    assert explained["agent"]["agent"] == described_agent.AGENT
    request = wait_until(lambda: call_robot(scene.visor, "inbox")["items"], timeout_s=30)[0]
    assert "touch made" in request["action"]["given"]
    scene.visor.run_at_terminal(f"approve {request['id']}", " approved")
    wait_until(lambda: (scene.folder / "made").exists(), timeout_s=30)
    assert "● Yes was chosen" in scene.tmux("capture-pane", "-p", "-t", scene.mux_pane)
    wait_until(lambda: call_robot(scene.visor, "inbox", "--all")["items"][0]["state"] == "used", timeout_s=30)
    scene.wait_for_state("completed")

    scene.send("ask")
    request = wait_until(lambda: call_robot(scene.visor, "inbox")["items"], timeout_s=30)[0]
    scene.visor.run_checked("deny", str(request["id"]))
    wait_until(lambda: "● No was chosen" in scene.tmux("capture-pane", "-p", "-t", scene.mux_pane), timeout_s=30)


def test_a_file_is_used_after_a_reload_and_a_bad_one_is_reported(scene):
    path = Path(scene.visor.paths.config_dir) / "agents" / f"{described_agent.AGENT}.toml"
    path.unlink()
    scene.visor.allow_changes()
    scene.visor.run_checked("config", "reload")
    scene.start_agent()
    names = [one["name"] for one in call_robot(scene.visor, "agents", "list")["items"]]
    assert described_agent.AGENT not in names
    path.write_text(described_agent.DESCRIPTION)
    path.with_name("broken.toml").write_text('about = "x"\nproces = 3\n')
    status, printed, _ = scene.visor.run("config", "reload")
    assert status == 78
    assert "broken.toml:2: proces: is unknown" in printed
    scene.wait_for_state("idle")
    (trouble,) = call_robot(scene.visor, "agents", "list")["troubles"]
    assert trouble.endswith("broken.toml:2: proces: is unknown; did you mean process?")


def test_a_running_program_becomes_an_agent_with_its_screens_as_examples(scene):
    path = Path(scene.visor.paths.config_dir) / "agents" / f"{described_agent.AGENT}.toml"
    path.unlink()
    scene.visor.allow_changes()
    scene.start_agent()
    wait_until(lambda: "Ask the toy" in scene.tmux("capture-pane", "-p", "-t", scene.mux_pane), timeout_s=30)
    call = ("agents", "new", described_agent.AGENT, "--pane", "1")
    described = wait_until(lambda: scene.visor.call_robot(*call), timeout_s=30)
    assert (described["is_new"], described["saved"], described["problem"]) == (True, None, "")
    saved = scene.visor.call_robot(*call, "--shows", "idle")
    assert (saved["is_new"], saved["saved"], saved["problem"]) == (False, "idle", "")
    assert "toy_coder ok, 1 example classified as expected" in scene.visor.run_checked("agents", "test", str(path))
    wrong = scene.visor.call_robot(*call, "--shows", "running")
    assert wrong["problem"].endswith("example: number 2 shows running, but is classified as idle")
    text = path.read_text()
    path.write_text(text[: text.rindex("\n[[example]]")])
    scene.visor.run_checked("config", "reload")
    assert scene.wait_for_state("idle")
