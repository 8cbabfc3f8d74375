"""The Copilot adapter as a whole."""

import pytest

from termvisor.agents.adapters.copilot import ADAPTER
from termvisor.agents.adapters.copilot.adapter import PROGRAM_MATCHER, list_watched_paths
from tests.unit.agents.adapters.adapter_inputs import SESSION, build_process, read_source_record


def test_a_session_is_resumed_only_by_a_valid_id():
    assert ADAPTER.build_resume_command(SESSION) == ("copilot", f"--resume={SESSION}")
    assert ADAPTER.build_resume_command("x y") == ()


def test_titles_of_copilot_are_recognized():
    assert ADAPTER.matches_title("GitHub Copilot")
    assert ADAPTER.matches_title("mend the parser - GitHub Copilot")
    assert not ADAPTER.matches_title("GitHub Copilot docs")


def test_other_sources_give_no_signal_and_one_path_is_watched():
    assert read_source_record(ADAPTER, "osc", "state=idle") == []
    assert len(ADAPTER.list_watched_paths(build_process("copilot", env={"HOME": "/home/you"}))) == 1


@pytest.mark.parametrize(
    "argv",
    [
        ("copilot",),
        ("/opt/copilot", f"--resume={SESSION}"),
        ("node", "/lib/node_modules/@github/copilot/npm-loader.js"),
    ],
)
def test_a_copilot_process_is_found(argv):
    assert PROGRAM_MATCHER.find_agent([build_process("bash"), build_process(*argv)]) is not None


@pytest.mark.parametrize("argv", [("copilot", "--acp"), ("copilot", "login"), ("copilot", "--help"), ("gh", "copilot")])
def test_non_interactive_copilot_commands_are_not_agents(argv):
    assert PROGRAM_MATCHER.find_agent([build_process(*argv)]) is None


def test_only_the_event_log_beside_the_lock_of_the_process_is_watched():
    (watch,) = list_watched_paths(build_process("copilot", pid=42, env={"HOME": "/home/you"}))
    assert (watch.folder, watch.pattern) == ("/home/you/.copilot/session-state", "events.jsonl")
    assert (watch.required_sibling, watch.is_deep, watch.hint.pid, watch.hint.pid_started) == (
        "inuse.42.lock",
        True,
        42,
        7,
    )


def test_copilot_home_moves_the_watched_folder():
    (watch,) = list_watched_paths(
        build_process("copilot", cwd="/srv", env={"HOME": "/home/you", "COPILOT_HOME": "state"})
    )
    assert watch.folder == "/srv/state/session-state"
    assert list_watched_paths(build_process("copilot")) == []
