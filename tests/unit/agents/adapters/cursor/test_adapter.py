"""The Cursor adapter as a whole."""

import pytest

from termvisor.agents.adapters.cursor import ADAPTER
from termvisor.agents.adapters.cursor.adapter import PROGRAM_MATCHER
from tests.unit.agents.adapters.adapter_inputs import SESSION, build_process


def test_a_session_is_resumed_only_by_a_valid_id():
    assert ADAPTER.build_resume_command(SESSION) == ("cursor-agent", f"--resume={SESSION}")
    assert ADAPTER.build_resume_command("x") == ()
    assert ADAPTER.list_watched_paths(build_process("cursor-agent")) == ()
    assert ADAPTER.matches_title("Cursor Agent")


SCRIPT = "/home/you/.local/share/cursor-agent/versions/2026.01.28/index.js"


@pytest.mark.parametrize("argv", [("cursor-agent",), ("/home/you/.local/bin/cursor-agent", "fix it"), ("node", SCRIPT)])
def test_a_cursor_process_is_found(argv):
    assert PROGRAM_MATCHER.find_agent([build_process(*argv)]) is not None


@pytest.mark.parametrize("argv", [("cursor-agent", "login"), ("cursor", "."), ("node", "/srv/index.js"), ("agent",)])
def test_another_process_is_not_taken_for_cursor(argv):
    assert PROGRAM_MATCHER.find_agent([build_process(*argv)]) is None
