"""The Gemini adapter as a whole."""

from termvisor.agents.adapters.gemini import ADAPTER
from tests.unit.agents.adapters.adapter_inputs import SESSION, build_process


def test_it_is_resumed_only_by_its_session_id():
    assert ADAPTER.build_resume_command(SESSION) == ("gemini", "--resume", SESSION)
    assert ADAPTER.build_resume_command("latest; rm -rf .") == ()


def test_its_session_files_name_no_process_and_are_not_watched():
    assert ADAPTER.list_watched_paths(build_process("gemini")) == ()


def test_its_title_has_a_sign():
    assert ADAPTER.matches_title("◇  Ready (api)   ")
    assert not ADAPTER.matches_title("Ready (api)")
