"""Accounts and the skill pages for agents, with a real daemon, tmux and tracker program."""

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
[commands]
unknown_effect = "allow"
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
    """Start a shell and wait for its prompt."""
    mux_id = scene.tmux.start_session("s", InputRecord(scene.visor.paths).shell_command)
    number = scene.wait_until_captured(mux_id)

    def is_at_prompt() -> bool:
        scene.tmux("send-keys", "-t", mux_id, "Enter")  # the first prompt may have been printed before the capture
        return any(item["activity"]["kind"] == "prompt" for item in scene.list_panes())

    wait_until(is_at_prompt)
    return str(number)


def test_picking_an_account_runs_the_tracker(scene, shell):
    picked = scene.visor.call_robot("accounts", "pick", "openai", "--explain")
    assert picked["account"] == "openai/second"
    assert [(one["ref"], one["verdict"]) for one in picked["candidates"]] == [
        ("openai/second", "chosen"),
        ("openai/work", "scarce"),
    ]
    assert scene.visor.call_robot("accounts", "refresh")["told"] == ""
    scene.visor.run_at_terminal("accounts use second --json", '"in_use":true')


def approve(scene: WatchedTmux, *words: str) -> None:
    """Approve at a terminal, as a user, what this command requests."""
    _, out, _ = scene.visor.run("robot", "--full", *words)
    request = json.loads(out)["error"]["details"]["question"]
    env = " ".join(f"{name}={value}" for name, value in scene.visor.env.items() if name.startswith("VISOR_"))
    scene.tmux.open_window("s", f"env {env} {sys.executable} -m termvisor approve {request}")
    wait_until(lambda: not call_robot(scene.visor, "inbox")["items"])


def test_a_program_starts_with_an_account_and_its_secret_is_not_stored_or_shown(scene, shell, tmp_path):
    paths, proof = scene.visor.paths, tmp_path / "proof"
    program = tmp_path / "tells"
    program.write_text(f'#!/bin/sh\nprintf "%s %s" "$VISOR_ACCOUNT" "${{#KEY}}" > {proof}\nexec sleep 60\n')
    program.chmod(0o700)
    words = ("spawn", "--account", "second", "--beside", shell, "--", str(program), "go")
    approve(scene, *words)
    done = scene.visor.call_robot(*words)
    assert wait_until(lambda: proof.exists() and proof.read_text()) == f"openai/second {len(SECRET)}"
    audit = scene.visor.run_checked("robot", "--full", "audit", "--limit", "50")
    assert "openai/second" in audit
    outputs = [
        audit,
        scene.visor.run_checked("robot", "--full", "accounts", "show", "second"),
        scene.visor.run_checked("config", "show"),
    ]
    outputs.append(scene.tmux("show-environment", "-g"))
    outputs.append(Path(f"/proc/{done['pid']}/cmdline").read_text())
    stored_files = [path.read_bytes() for path in Path(paths.data_dir).rglob("*") if path.is_file()]
    assert not any(SECRET in str(text) for text in outputs)
    assert not any(SECRET.encode() in data for data in stored_files)


def test_an_unknown_account_starts_no_program(scene, shell):
    status, out, _ = scene.visor.run("robot", "--full", "spawn", "--account", "none", "--beside", shell, "--", "true")
    assert status == 4
    assert "account 'none' not found" in out


def read_examples(page: str) -> list[str]:
    blocks = re.findall(r"```console\n(.*?)```", (SKILLS / page).read_text(), re.DOTALL)
    return [line.removeprefix("visor ") for block in blocks for line in block.splitlines() if line]


@pytest.mark.parametrize("page", sorted(path.name for path in SKILLS.glob("*.md")))
def test_the_commands_in_the_skill_pages_work(scene, shell, page):
    placeholders = {"<pane>": shell}
    lines = read_examples(page)
    assert lines
    for line in lines:
        words = [placeholders.get(word, word) for word in shlex.split(line)]
        answer = json.loads(scene.visor.run(*words)[1])
        assert answer["ok"]
        placeholders["<reservation>"] = str(answer["data"].get("reservation_id", placeholders.get("<reservation>", "")))
