"""Accounts and the pages for agents, with a real daemon, a real tmux and a real program as tracker."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from tests.live.conftest import WatchedTmux, run_watched_tmux
from tests.live.input_record import InputRecord
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot

SECRET = "hush-4711-never-seen"
SKILLS = Path(__file__).resolve().parents[2] / "docs" / "skills"
POLICY = """
unproven_prompt = true
[[rule]]
id = "tests"
when = { kind = ["spawn", "send_text", "reserve", "release"] }
answer = "allow"
"""
TRACKED = {
    "accounts": [
        {"name": "work", "percent_remaining": 3},
        {"name": "second", "percent_remaining": 71, "limit_hours": 5},
    ]
}


@pytest.fixture(scope="module")
def scene():
    with run_watched_tmux() as watched:
        config = Path(watched.visor.paths.config_dir)
        config.mkdir(parents=True, exist_ok=True)
        env_file, tracker = config / "second.env", config / "caut"
        env_file.write_text(f"KEY={SECRET}\n")
        env_file.chmod(0o600)
        tracker.write_text(f"#!/bin/sh\necho '{json.dumps(TRACKED)}'\n")
        tracker.chmod(0o700)
        (config / "policy.toml").write_text(POLICY)
        (config / "config.toml").write_text(
            f'account_tracker = "{tracker}"\n'
            '[[accounts]]\nservice = "openai"\nname = "work"\n'
            f'[[accounts]]\nservice = "openai"\nname = "second"\nenv_file = "{env_file}"\n'
        )
        config.chmod(0o700)
        yield watched


@pytest.fixture(scope="module")
def shell(scene: WatchedTmux) -> str:
    """A shell that shows its prompt."""
    mux_id = scene.tmux.start_session("s", InputRecord(scene.visor.paths).shell_command)
    number = scene.wait_until_captured(mux_id)

    def is_at_prompt() -> bool:
        scene.tmux("send-keys", "-t", mux_id, "Enter")  # the first prompt may have come before
        return any(item["activity"]["kind"] == "prompt" for item in scene.list_panes())

    wait_until(is_at_prompt)
    return str(number)


def test_the_tracker_is_asked_before_an_account_is_picked(scene, shell):
    picked = scene.visor.call_robot("accounts", "pick", "openai", "--explain")
    assert picked["account"] == "openai/second"
    assert [(one["ref"], one["verdict"]) for one in picked["candidates"]] == [
        ("openai/second", "chosen"),
        ("openai/work", "scarce"),
    ]
    assert scene.visor.call_robot("accounts", "refresh")["told"] == ""
    assert scene.visor.call_robot("accounts", "use", "second")["account"]["in_use"]


def approve(scene: WatchedTmux, *words: str) -> None:
    """A person at a terminal allows what is about to be asked."""
    _, out, _ = scene.visor.run("robot", *words)
    question = json.loads(out)["error"]["details"]["question"]
    env = " ".join(f"{name}={value}" for name, value in scene.visor.env.items() if name.startswith("VISOR_"))
    scene.tmux.open_window("s", f"env {env} {sys.executable} -m termvisor approve {question}")
    wait_until(lambda: not call_robot(scene.visor, "inbox")["items"])


def test_a_program_starts_under_an_account_and_its_secret_is_nowhere_else(scene, shell, tmp_path):
    places, proof = scene.visor.paths, tmp_path / "proof"
    program = tmp_path / "tells"
    program.write_text(f'#!/bin/sh\nprintf "%s %s" "$VISOR_ACCOUNT" "${{#KEY}}" > {proof}\nexec sleep 60\n')
    program.chmod(0o700)
    words = ("spawn", "--account", "second", "--beside", shell, "--", str(program), "go")
    approve(scene, *words)
    done = scene.visor.call_robot(*words)
    assert wait_until(lambda: proof.exists() and proof.read_text()) == f"openai/second {len(SECRET)}"
    audit = scene.visor.run_checked("robot", "audit", "--limit", "50")
    assert "openai/second" in audit
    shown = [
        audit,
        scene.visor.run_checked("robot", "accounts", "show", "second"),
        scene.visor.run_checked("config", "show"),
    ]
    shown.append(scene.tmux("show-environment", "-g"))
    shown.append(Path(f"/proc/{done['pid']}/cmdline").read_text())
    kept = [path.read_bytes() for path in Path(places.data_dir).rglob("*") if path.is_file()]
    assert not any(SECRET in str(text) for text in shown)
    assert not any(SECRET.encode() in data for data in kept)


def test_an_account_that_is_not_there_starts_nothing(scene, shell):
    status, out, _ = scene.visor.run("robot", "spawn", "--account", "none", "--beside", shell, "--", "true")
    assert status == 4
    assert "account 'none' not found" in out


def examples(page: str) -> list[str]:
    blocks = re.findall(r"```console\n(.*?)```", (SKILLS / page).read_text(), re.DOTALL)
    return [line.removeprefix("visor ") for block in blocks for line in block.splitlines() if line]


@pytest.mark.parametrize("page", sorted(path.name for path in SKILLS.glob("*.md")))
def test_what_the_pages_for_agents_say_works(scene, shell, page):
    known = {"<pane>": shell}
    lines = examples(page)
    assert lines
    for line in lines:
        words = [known.get(word, word) for word in shlex.split(line)]
        answer = json.loads(scene.visor.run_checked(*words))
        assert answer["ok"]
        known["<reservation>"] = str(answer["data"].get("reservation_id", known.get("<reservation>", "")))
