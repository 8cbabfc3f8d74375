"""The adapter as others see it."""

from termvisor.agents.adapters.cursor import ADAPTER
from tests.unit.agents.adapters.saying import SESSION, process


def test_it_is_taken_up_again_by_its_session_only():
    assert ADAPTER.resume_command(SESSION) == ("cursor-agent", f"--resume={SESSION}")
    assert ADAPTER.resume_command("x") == ()
    assert ADAPTER.watches(process("cursor-agent")) == ()
    assert ADAPTER.title_matches("Cursor Agent")
