"""The Gemini adapter as a whole."""

import pytest

from termvisor.agents.adapters.gemini import ADAPTER
from termvisor.agents.adapters.gemini.adapter import PROGRAM_MATCHER
from tests.unit.agents.adapters.adapter_inputs import SESSION, build_process


def test_a_session_is_resumed_only_by_a_valid_id():
    assert ADAPTER.build_resume_command(SESSION) == ("gemini", "--resume", SESSION)
    assert ADAPTER.build_resume_command("latest; rm -rf .") == ()


def test_session_files_are_not_watched():
    assert ADAPTER.list_watched_paths(build_process("gemini")) == ()


def test_a_gemini_title_is_recognized_by_its_symbol():
    assert ADAPTER.matches_title("◇  Ready (api)   ")
    assert not ADAPTER.matches_title("Ready (api)")


SCRIPT = "/usr/lib/node_modules/@google/gemini-cli/bundle/gemini.js"


def test_the_inner_of_two_gemini_processes_is_found():
    outer, inner = (
        build_process("node", SCRIPT, pid=1),
        build_process("/usr/bin/node", "--max-old-space-size=9", SCRIPT, pid=2),
    )
    assert PROGRAM_MATCHER.find_agent([build_process("bash"), outer, inner]) == inner
    assert PROGRAM_MATCHER.find_agent([build_process("bash"), outer]) == outer


@pytest.mark.parametrize(
    "argv", [("node", "/home/you/gemini.js"), ("vim", SCRIPT), ("node", SCRIPT, "mcp", "list"), ("node",)]
)
def test_other_scripts_and_non_interactive_commands_are_not_agents(argv):
    assert PROGRAM_MATCHER.find_agent([build_process(*argv)]) is None


def test_a_gemini_started_by_npx_is_found():
    inner = build_process("node", "/home/dev/.npm/node_modules/.bin/gemini", pid=2)
    assert PROGRAM_MATCHER.find_agent([build_process("npm exec gemini"), inner]) == inner
