"""Rules, workflows and a webhook that are wrong, each in its own way, in one daemon: each is told clearly, and
everything else goes on as if they were not there."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.conftest import WatchedTmux, run_watched_tmux
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot

RULE = """
id = "org.{name}"
since = "1"
scope = "line"
anchors = ["{word}"]
pattern = '{pattern}'
event = "org.{name}"
severity = "error"
cooldown = 0
why = "A test says so."
[[hit]]
text = "{word}: web"
[[miss]]
text = "nothing"
"""
PACKS = {
    "org.local/good.toml": RULE.format(name="good", word="GOOD", pattern=r"^GOOD: \w+"),
    "org.local/throws.toml": RULE.format(name="throws", word="THROWS", pattern=r"^THROWS: \w+"),
    "org.local/quits.toml": RULE.format(name="quits", word="QUITS", pattern=r"^QUITS: \w+"),
    "org.local/slow.toml": RULE.format(name="slow", word="SLOW", pattern=r"^SLOW(?:(?:[a-z]+)+)*: \w+$"),
    "org.local/blind.toml": RULE.format(name="blind", word="BLIND", pattern="^DEAF: \\w+"),
    "org.torn/torn.toml": 'id = "org.torn"\npattern = \'(\nwhy = 3',
    "org.torn/pack.toml": "name = [",
}
WORKFLOWS = {
    "answers.yaml": "name: answers\nmode: on\ntrigger: {event: org.good}\nsteps:\n  - note: it was good\n",
    "unknown_step.yaml": "name: unknown_step\nsteps:\n  - note: one\n  - wait_fro: x\n",
    "no_yaml.yaml": "name: [\n",
}
PLUGIN = """
from termvisor.workflows.workflow import Trigger, Workflow

async def run(context):
    await context.note("all is well")
    raise ZeroDivisionError("by the workflow's own hand")

async def endless(context):
    await context.note("all is well")
    while True:
        await context.now()

async def quits(context):
    await context.note("all is well")
    raise SystemExit(3)

QUITS = Workflow(name="quits", summary="It quits.", mode="on", trigger=Trigger(events=("org.quits",)), run=quits)
WORKFLOW = Workflow(name="throws", summary="It throws.", mode="on", trigger=Trigger(events=("org.throws",)), run=run)
"""
ENTRIES = """
[termvisor.workflows]
throws = throwing:WORKFLOW
quits = throwing:QUITS
torn = torn_plugin:WORKFLOW
no_workflow = throwing:run
"""
POLICY = """
[[rule]]
id = "tests"
when = { kind = ["run_workflow", "notify"] }
answer = "allow"
"""


class Deaf:
    """A web server that takes every request and never answers."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/hook"

    def close(self) -> None:
        self._socket.close()

    def was_asked(self) -> bool:
        self._socket.settimeout(20)
        asked, _ = self._socket.accept()
        with asked:
            return bool(asked.recv(64))


@pytest.fixture(scope="module")
def trouble(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[WatchedTmux, Deaf]]:
    deaf = Deaf()
    with run_watched_tmux() as scene:
        config, site = Path(scene.visor.paths.config_dir), tmp_path_factory.mktemp("site")
        _write(config / "packs", PACKS)
        _write(config / "workflows", WORKFLOWS)
        _write(site, {"throwing.py": PLUGIN, "torn_plugin.py": "1 / 0\n", "t-1.dist-info/entry_points.txt": ENTRIES})
        _write(config, {"policy.toml": POLICY, "config.toml": f'[notify]\nwebhook_url = "{deaf.url}"\ntimeout = 1\n'})
        scene.visor.env = {
            **scene.visor.env,
            "PYTHONPATH": os.pathsep.join([str(site), *filter(None, [scene.visor.env.get("PYTHONPATH")])]),
            "VISOR_EVENTS_WAYS": "webhook",
            "VISOR_EVENTS_SEVERITY": "error",
        }
        yield scene, deaf
        deaf.close()


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def runs(scene: WatchedTmux) -> dict[str, tuple[str, str]]:
    items = call_robot(scene.visor, "workflow", "status", "--all")["items"]
    return {item["workflow"]: (item["status"], item["why"]) for item in items}


def test_what_is_wrong_is_told_and_everything_else_goes_on(trouble: tuple[WatchedTmux, Deaf]) -> None:
    scene, deaf = trouble
    shell = scene.tmux.start_session(command="sh")
    ours = scene.wait_until_captured(shell)
    pid = scene.visor.daemon_pid
    for word in ("THROWS", "QUITS", "SLOW", "BLIND", "GOOD"):
        scene.tmux.type_line(shell, f"echo {word[:2]}''{word[2:]}: web")
    wait_until(lambda: {"answers", "quits", "throws"} <= set(runs(scene)))
    assert deaf.was_asked()
    wait_until(lambda: {status for status, _ in runs(scene).values()} <= {"completed", "failed"})
    found = runs(scene)
    assert found["answers"][0] == "completed"
    assert found["throws"] == ("failed", "ZeroDivisionError: by the workflow's own hand")
    assert found["quits"] == ("failed", "SystemExit: 3")
    kinds = [
        event["kind"] for event in call_robot(scene.visor, "events", "--pane", str(ours), "--limit", "200")["items"]
    ]
    assert [kind for kind in kinds if kind.startswith("org.")] == ["org.throws", "org.quits", "org.good"]
    scene.print_word(shell, "alive")
    assert scene.visor.daemon_pid == pid


WORDS = {
    ("rules", "lint"): (
        "packs/org.local/slow.toml:6: pattern: cannot be used: it repeats a repeat, such as (a+)+",
        "packs/org.local/blind.toml:11: hit: does not match: 'BLIND: web'",
        "packs/org.torn/pack.toml: is not valid TOML",
    ),
    ("workflow", "list"): (
        "workflows/unknown_step.yaml:4: unknown step 'wait_fro'; did you mean wait_for?",
        "workflows/no_yaml.yaml:2: ",
        "entry point throws",
    ),
    ("doctor",): ("packs/org.local/slow.toml:6: pattern: cannot be used", "-> `visor rules lint` shows all errors"),
}


@pytest.mark.live  # what each message says is tested with the loader
@pytest.mark.parametrize("command", WORDS, ids=" ".join)
def test_the_words_for_it_name_the_file_the_line_and_what_is_wrong(trouble: tuple[WatchedTmux, Deaf], command) -> None:
    said = trouble[0].visor.run(*command)[1]
    assert [words for words in WORDS[command] if words not in said] == []


def test_a_request_that_hangs_is_given_up_and_on_record(trouble: tuple[WatchedTmux, Deaf]) -> None:
    scene = trouble[0]
    shell = scene.tmux.start_session("hanging", command="sh")
    scene.wait_until_captured(shell)
    scene.tmux.type_line(shell, "echo GO''OD: web")
    entries = wait_until(lambda: [one for one in _outcomes(scene) if one["why"] == "timeout"], timeout_s=40)
    assert entries[0]["outcome"] == "failed"


def _outcomes(scene: WatchedTmux) -> list[dict]:
    items = call_robot(scene.visor, "audit", "--limit", "100")["items"]
    return [item for item in items if item["stage"] == "outcome" and item["kind"] == "notify"]
