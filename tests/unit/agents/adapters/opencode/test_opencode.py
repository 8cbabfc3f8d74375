"""The opencode adapter as a whole."""

from termvisor.agents.adapters.opencode import ADAPTER
from tests.unit.agents.adapters.adapter_inputs import build_process


def test_it_is_resumed_only_by_its_session_id():
    assert ADAPTER.build_resume_command("ses_e1d444cefffe") == ("opencode", "--session", "ses_e1d444cefffe")
    assert ADAPTER.build_resume_command("$(reboot)") == ()


def test_its_word_comes_by_the_plugin_alone():
    assert ADAPTER.list_watched_paths(build_process("opencode")) == ()


def test_its_titles_are_known():
    assert ADAPTER.matches_title("OpenCode")
    assert ADAPTER.matches_title("OC | A scripted session")
    assert not ADAPTER.matches_title("OpenCode notes")
