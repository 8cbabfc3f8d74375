"""Faulty rules, workflows and a silent webhook in one daemon: each is reported, and everything else keeps working."""

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
[commands]
unknown_effect = "allow"
"""


class SilentWebServer:
    """A web server that takes every request and never answers."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/hook"

    def close(self) -> None:
        self._socket.close()

    def accept_request(self) -> bool:
        self._socket.settimeout(20)
        connection, _ = self._socket.accept()
        with connection:
            return bool(connection.recv(64))


@pytest.fixture(scope="module")
def faulty_scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[WatchedTmux, SilentWebServer]]:
    web_server = SilentWebServer()
    with run_watched_tmux() as scene:
        config, site = Path(scene.visor.paths.config_dir), tmp_path_factory.mktemp("site")
        _write(config / "packs", PACKS)
        _write(config / "workflows", WORKFLOWS)
        _write(site, {"throwing.py": PLUGIN, "torn_plugin.py": "1 / 0\n", "t-1.dist-info/entry_points.txt": ENTRIES})
        _write(
            config, {"policy.toml": POLICY, "config.toml": f'[notify]\nwebhook_url = "{web_server.url}"\ntimeout = 1\n'}
        )
        scene.visor.env = {
            **scene.visor.env,
            "PYTHONPATH": os.pathsep.join([str(site), *filter(None, [scene.visor.env.get("PYTHONPATH")])]),
            "VISOR_EVENTS_WAYS": "webhook",
            "VISOR_EVENTS_SEVERITY": "error",
        }
        yield scene, web_server
        web_server.close()


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def list_runs(scene: WatchedTmux) -> dict[str, tuple[str, str]]:
    items = call_robot(scene.visor, "workflow", "status", "--all")["items"]
    return {item["workflow"]: (item["status"], item["why"]) for item in items}


def test_faulty_rules_workflows_and_webhooks_are_reported_and_others_keep_working(
    faulty_scene: tuple[WatchedTmux, SilentWebServer],
) -> None:
    scene, web_server = faulty_scene
    shell = scene.tmux.start_session(command="sh")
    pane_id = scene.wait_until_captured(shell)
    pid = scene.visor.daemon_pid
    for word in ("THROWS", "QUITS", "SLOW", "BLIND", "GOOD"):
        scene.tmux.type_line(shell, f"echo {word[:2]}''{word[2:]}: web")
    wait_until(lambda: {"answers", "quits", "throws"} <= set(list_runs(scene)))
    assert web_server.accept_request()
    wait_until(lambda: {status for status, _ in list_runs(scene).values()} <= {"completed", "failed"})
    found = list_runs(scene)
    assert found["answers"][0] == "completed"
    assert found["throws"] == ("failed", "ZeroDivisionError: by the workflow's own hand")
    assert found["quits"] == ("failed", "SystemExit: 3")
    kinds = [
        event["kind"] for event in call_robot(scene.visor, "events", "--pane", str(pane_id), "--limit", "200")["items"]
    ]
    assert [kind for kind in kinds if kind.startswith("org.")] == ["org.throws", "org.quits", "org.good"]
    scene.print_word(shell, "alive")
    assert scene.visor.daemon_pid == pid


EXPECTED_MESSAGES = {
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
@pytest.mark.parametrize("command", EXPECTED_MESSAGES, ids=" ".join)
def test_messages_about_faulty_files_name_file_line_and_problem(
    faulty_scene: tuple[WatchedTmux, SilentWebServer], command
) -> None:
    output = faulty_scene[0].visor.run(*command)[1]
    assert [message for message in EXPECTED_MESSAGES[command] if message not in output] == []


def test_a_hanging_webhook_request_times_out_and_is_audited(faulty_scene: tuple[WatchedTmux, SilentWebServer]) -> None:
    scene = faulty_scene[0]
    shell = scene.tmux.start_session("hanging", command="sh")
    scene.wait_until_captured(shell)
    scene.tmux.type_line(shell, "echo GO''OD: web")
    entries = wait_until(lambda: [one for one in _list_notify_outcomes(scene) if one["why"] == "timeout"], timeout_s=40)
    assert entries[0]["outcome"] == "failed"


def _list_notify_outcomes(scene: WatchedTmux) -> list[dict]:
    items = call_robot(scene.visor, "audit", "--limit", "100")["items"]
    return [item for item in items if item["stage"] == "outcome" and item["kind"] == "notify"]
