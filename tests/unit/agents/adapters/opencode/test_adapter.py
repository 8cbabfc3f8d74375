"""The opencode adapter as a whole."""

import pytest

from termvisor.agents.adapters.opencode import ADAPTER
from termvisor.agents.adapters.opencode.adapter import PROGRAM_MATCHER, find_requested_port
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


@pytest.mark.parametrize("argv", [("opencode",), ("/opt/opencode", "--port", "4096"), ("opencode", "/home/you/api")])
def test_it_is_known(argv):
    assert PROGRAM_MATCHER.find_agent([build_process("bash"), build_process(*argv)]) is not None


@pytest.mark.parametrize(
    "argv", [("opencode", "serve"), ("opencode", "auth", "login"), ("opencode", "--version"), ("oc",)]
)
def test_its_server_and_its_errands_are_none(argv):
    assert PROGRAM_MATCHER.find_agent([build_process(*argv)]) is None


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--port", "4096"), 4096),
        (("--port=5000", "/src"), 5000),
        (("--port", "0"), 0),
        (("--port", "80/x"), 0),
        ((), 0),
    ],
)
def test_its_command_line_may_name_a_port(words, expected):
    assert find_requested_port(build_process("opencode", *words)) == expected
