"""The Copilot adapter as a whole."""

from termvisor.agents.adapters.copilot import ADAPTER
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
