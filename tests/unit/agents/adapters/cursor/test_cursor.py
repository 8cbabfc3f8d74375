"""The Cursor adapter as a whole."""

from termvisor.agents.adapters.cursor import ADAPTER
from tests.unit.agents.adapters.adapter_inputs import SESSION, build_process


def test_it_is_resumed_only_by_its_session_id():
    assert ADAPTER.build_resume_command(SESSION) == ("cursor-agent", f"--resume={SESSION}")
    assert ADAPTER.build_resume_command("x") == ()
    assert ADAPTER.list_watched_paths(build_process("cursor-agent")) == ()
    assert ADAPTER.matches_title("Cursor Agent")
