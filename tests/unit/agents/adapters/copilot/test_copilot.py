"""The adapter as others see it."""

from termvisor.agents.adapters.copilot import ADAPTER
from tests.unit.agents.adapters.adapter_inputs import SESSION, build_process, read_source_record


def test_it_is_taken_up_again_by_its_session_only():
    assert ADAPTER.build_resume_command(SESSION) == ("copilot", f"--resume={SESSION}")
    assert ADAPTER.build_resume_command("x y") == ()


def test_its_titles_are_known():
    assert ADAPTER.title_matches("GitHub Copilot")
    assert ADAPTER.title_matches("mend the parser - GitHub Copilot")
    assert not ADAPTER.title_matches("GitHub Copilot docs")


def test_it_reads_its_own_sources_only():
    assert read_source_record(ADAPTER, "osc", "state=idle") == []
    assert len(ADAPTER.list_watched_paths(build_process("copilot", env={"HOME": "/home/you"}))) == 1
