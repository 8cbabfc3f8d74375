"""The Copilot adapter as a whole."""

import pytest

from termvisor.agents.adapters.copilot import ADAPTER
from termvisor.agents.adapters.copilot.adapter import PROGRAM_MATCHER, list_watched_paths
from tests.unit.agents.adapters.adapter_inputs import SESSION, build_process, read_source_record


def test_it_is_resumed_only_by_its_session_id():
    assert ADAPTER.build_resume_command(SESSION) == ("copilot", f"--resume={SESSION}")
    assert ADAPTER.build_resume_command("x y") == ()


def test_its_titles_are_known():
    assert ADAPTER.matches_title("GitHub Copilot")
    assert ADAPTER.matches_title("mend the parser - GitHub Copilot")
    assert not ADAPTER.matches_title("GitHub Copilot docs")


def test_it_reads_its_own_sources_only():
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
def test_it_is_known(argv):
    assert PROGRAM_MATCHER.find_agent([build_process("bash"), build_process(*argv)]) is not None


@pytest.mark.parametrize("argv", [("copilot", "--acp"), ("copilot", "login"), ("copilot", "--help"), ("gh", "copilot")])
def test_its_errands_are_none(argv):
    assert PROGRAM_MATCHER.find_agent([build_process(*argv)]) is None


def test_only_the_log_beside_its_own_lock_is_its_own():
    (watch,) = list_watched_paths(build_process("copilot", pid=42, env={"HOME": "/home/you"}))
    assert (watch.folder, watch.pattern) == ("/home/you/.copilot/session-state", "events.jsonl")
    assert (watch.required_sibling, watch.is_deep, watch.hint.pid, watch.hint.pid_started) == (
        "inuse.42.lock",
        True,
        42,
        7,
    )


def test_its_folder_may_be_elsewhere_or_unknown():
    (watch,) = list_watched_paths(
        build_process("copilot", cwd="/srv", env={"HOME": "/home/you", "COPILOT_HOME": "state"})
    )
    assert watch.folder == "/srv/state/session-state"
    assert list_watched_paths(build_process("copilot")) == []
