"""All kinds of secrets with a prefix, printed in thirteen modes: none is in the database, a log or any output."""

from pathlib import Path

import pytest

from termvisor.testing.private_tmux import make_short_folder
from tests.live.conftest import run_watched_tmux
from tests.live.fake_secrets import (
    SHOW_MODES,
    FakeSecret,
    build_context_secrets,
    build_provider_secrets,
    build_show_command,
    find_leaked_kinds,
)
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot
from tests.live.shell_setup import ShellHome, ShellPane

SECRETS, CONTEXT_SECRETS = build_provider_secrets(), build_context_secrets()
ALL_SECRETS = SECRETS + CONTEXT_SECRETS
# Smearing pauses after every few secrets, so two panes share them.
SECRETS_BY_MODE = {"print": ALL_SECRETS, "smear": SECRETS[::2], "smear_rest": SECRETS[1::2]}
NARROW = 60
COMMANDS = [
    "get-text {} --tail 5000",
    "robot get-text {} --tail 5000 --numbers",
    "robot get-text {} --tail 5000 --escapes",
    "get-screen {}",
    "robot get-screen {} --escapes",
    "export {} --text",
    "export {} --jsonl",
    "export {} --raw",
    "export {} --cast",
    "robot replay {}",
    "robot list-commands --pane {}",
    "robot events --limit 1000",
    "robot state",
    "robot search end --limit 1000 -C 3",
    "export --report",
    "search key --limit 1000",
    "up",
    "logs",
]


DETAILED_COMMANDS = ["get-screen {}", "export {} --text", "export {} --raw", "robot replay {}"]
"""Commands that run for every mode; the others print the same text."""


@pytest.fixture(scope="module")
def fleet():
    with run_watched_tmux() as scene:
        scene.tmux.start_session("keep", "sleep 1000")
        yield scene


@pytest.fixture(scope="module")
def panes_by_mode(fleet) -> dict[str, int]:
    """One narrow pane per mode that printed all secrets; return their numbers."""
    with make_short_folder() as folder:
        panes = {mode: fleet.tmux.start_session(mode, "sh", width=NARROW, height=40) for mode in SHOW_MODES}
        panes["typed"] = fleet.tmux.start_session("typed", "bash --norc --noprofile", width=NARROW, height=40)
        pane_ids = {mode: fleet.wait_until_captured(mux_id) for mode, mux_id in panes.items()}
        for mode in SHOW_MODES:
            fleet.tmux.type_line(panes[mode], build_show_command(folder, mode, SECRETS_BY_MODE.get(mode, SECRETS)))
        for one in SECRETS:
            fleet.tmux.type_line(panes["typed"], f": {one.text}")
        fleet.tmux.type_line(panes["typed"], "echo way-typed''-is-done")
        for mode, number in pane_ids.items():
            fleet.visor.call_robot("wait-for", str(number), f"^way-{mode}-is-done$", "--regex", "--timeout-secs", "40")
    return pane_ids


@pytest.mark.parametrize("mode", [*SHOW_MODES, "typed"])
def test_no_command_about_a_pane_prints_a_secret(fleet, panes_by_mode, mode):
    templates = COMMANDS if mode == "print" else DETAILED_COMMANDS
    commands = [command.format(panes_by_mode[mode]) for command in templates if "{}" in command]
    assert {command: find_leaked_kinds(run_command(fleet, command), ALL_SECRETS) for command in commands} == {
        command: [] for command in commands
    }


def test_no_command_about_all_panes_prints_a_secret(fleet, panes_by_mode):
    commands = [command for command in COMMANDS if "{}" not in command]
    assert {command: find_leaked_kinds(run_command(fleet, command), ALL_SECRETS) for command in commands} == {
        command: [] for command in commands
    }


def run_command(fleet, command: str) -> bytes:
    status, text, errors = fleet.visor.run(*command.split())
    # Status 1: a search without hits.
    assert status in (0, 1) and text, errors
    return text.encode()


def test_the_masks_prove_that_the_secrets_were_printed(fleet, panes_by_mode):
    text = fleet.visor.run_checked("export", str(panes_by_mode["print"]), "--text")
    assert {one.kind for one in ALL_SECRETS if f"[redacted:{one.kind}]" in text} >= {one.kind for one in SECRETS}


def test_no_secret_is_in_the_database_its_index_or_a_log(fleet, panes_by_mode):
    paths = fleet.visor.paths
    wait_until(lambda: call_robot(fleet.visor, "health")["ingest_backlog_bytes"] == 0)
    files = [path for path in Path(paths.data_dir).rglob("*") if path.is_file() and paths.raw_dir not in str(path)]
    assert {"visor.db", "visor.db-wal", "daemon.log"} <= {path.name for path in files}
    assert {path.name: find_leaked_kinds(path.read_bytes(), ALL_SECRETS) for path in files} == {
        path.name: [] for path in files
    }


def test_a_printed_shell_nonce_is_only_in_its_file_and_the_raw_log(fleet, tmp_path):
    paths = fleet.visor.paths
    pane = ShellPane(fleet, ShellHome(tmp_path, "bash").write_setup(paths))
    pane.run_lines(
        "set | grep visor_tail",
        "declare -p __visor_tail | fold -w 30",
        f"cat {paths.nonce_file}",
        f"printf '%s\\rthe nonce \\n' $(cat {paths.nonce_file})",
    )
    text = Path(paths.nonce_file).read_text().strip()
    nonce = [FakeSecret("shell_nonce", text, text)]
    assert find_leaked_kinds(pane.screen.encode(), nonce) and find_leaked_kinds(pane.raw_output, nonce)
    assert pane.activity["is_proven"]
    commands = [command.format(pane.pane_id) for command in COMMANDS]
    assert {command: find_leaked_kinds(run_command(fleet, command), nonce) for command in commands} == {
        command: [] for command in commands
    }
    assert "[redacted:shell_nonce]" in fleet.visor.run_checked("get-text", str(pane.pane_id), "--tail", "100")
    wait_until(lambda: call_robot(fleet.visor, "health")["ingest_backlog_bytes"] == 0)
    allowed_paths = (paths.raw_dir, paths.nonce_file)
    files = [
        path for path in Path(paths.data_dir).rglob("*") if path.is_file() and not str(path).startswith(allowed_paths)
    ]
    assert {path.name: find_leaked_kinds(path.read_bytes(), nonce) for path in files} == {
        path.name: [] for path in files
    }
