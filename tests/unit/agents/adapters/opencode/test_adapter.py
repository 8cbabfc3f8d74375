"""The opencode adapter as a whole."""

import pytest

from termvisor.agents.adapters.opencode import ADAPTER
from termvisor.agents.adapters.opencode.adapter import PROGRAM_MATCHER, find_requested_port
from tests.unit.agents.adapters.adapter_inputs import build_process


def test_a_session_is_resumed_only_by_a_valid_id():
    assert ADAPTER.build_resume_command("ses_e1d444cefffe") == ("opencode", "--session", "ses_e1d444cefffe")
    assert ADAPTER.build_resume_command("$(reboot)") == ()


def test_no_files_are_watched():
    assert ADAPTER.list_watched_paths(build_process("opencode")) == ()


def test_titles_of_opencode_are_recognized():
    assert ADAPTER.matches_title("OpenCode")
    assert ADAPTER.matches_title("OC | A scripted session")
    assert not ADAPTER.matches_title("OpenCode notes")


@pytest.mark.parametrize("argv", [("opencode",), ("/opt/opencode", "--port", "4096"), ("opencode", "/home/you/api")])
def test_an_opencode_process_is_found(argv):
    assert PROGRAM_MATCHER.find_agent([build_process("bash"), build_process(*argv)]) is not None


@pytest.mark.parametrize(
    "argv", [("opencode", "serve"), ("opencode", "auth", "login"), ("opencode", "--version"), ("oc",)]
)
def test_the_server_and_non_interactive_commands_are_not_agents(argv):
    assert PROGRAM_MATCHER.find_agent([build_process(*argv)]) is None


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--port", "4096"), 4096),
        (("--port=5000", "/src"), 5000),
        (("--port", "0"), 0),
        (("--port", "80/x"), 0),
        ((), 0),
    ],
)
def test_the_port_is_read_from_the_command_line(arguments, expected):
    assert find_requested_port(build_process("opencode", *arguments)) == expected
