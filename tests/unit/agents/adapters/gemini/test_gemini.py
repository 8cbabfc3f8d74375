"""The adapter as others see it."""

from termvisor.agents.adapters.gemini import ADAPTER
from tests.unit.agents.adapters.adapter_inputs import SESSION, build_process


def test_it_is_taken_up_again_by_its_session_only():
    assert ADAPTER.build_resume_command(SESSION) == ("gemini", "--resume", SESSION)
    assert ADAPTER.build_resume_command("latest; rm -rf .") == ()


def test_its_session_files_name_no_process_and_are_not_watched():
    assert ADAPTER.list_watched_paths(build_process("gemini")) == ()


def test_its_title_has_a_sign():
    assert ADAPTER.title_matches("◇  Ready (api)   ")
    assert not ADAPTER.title_matches("Ready (api)")
