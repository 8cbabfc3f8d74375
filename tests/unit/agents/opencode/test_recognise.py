"""opencode among the processes of a pane."""

import pytest

from termvisor.agents.opencode.recognise import LAUNCH, server_of
from tests.unit.agents.saying import process


@pytest.mark.parametrize("argv", [("opencode",), ("/opt/opencode", "--port", "4096"), ("opencode", "/home/you/api")])
def test_it_is_known(argv):
    assert LAUNCH.found([process("bash"), process(*argv)]) is not None


@pytest.mark.parametrize(
    "argv", [("opencode", "serve"), ("opencode", "auth", "login"), ("opencode", "--version"), ("oc",)]
)
def test_its_server_and_its_errands_are_none(argv):
    assert LAUNCH.found([process(*argv)]) is None


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--port", "4096"), "http://127.0.0.1:4096"),
        (("--port=5000", "--hostname", "localhost"), "http://localhost:5000"),
        (("--port", "0"), ""),
        (("--port", "4096", "--hostname", "example.com"), ""),
        (("--port", "80/x"), ""),
        ((), ""),
    ],
)
def test_it_listens_only_where_it_was_told_to(words, expected):
    assert server_of(process("opencode", *words)) == expected
