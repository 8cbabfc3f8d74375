"""How programs are known by the way they were started."""

import pytest

from termvisor.agents.adapters.command_line import Launch, Resume, script_words, value_of
from tests.unit.agents.adapters.saying import SESSION, process

TOY = Launch(names=frozenset({"toy"}), script=r"/toy-cli/main\.js$", errands=frozenset({"login"}))


@pytest.mark.parametrize(
    "argv",
    [
        ("toy",),
        ("/opt/bin/toy", "-c"),
        ("/opt/bin/toy (deleted)",),
        ("node", "/lib/toy-cli/main.js"),
        ("/usr/bin/node", "--max-old-space-size=9", "/lib/toy-cli/main.js", "fix it"),
        ("toy", "tell me of login"),
    ],
)
def test_the_program_is_known(argv):
    assert TOY.is_agent(process(*argv))


@pytest.mark.parametrize(
    "argv",
    [
        (),
        ("vim", "toy"),
        ("node", "toy"),
        ("node",),
        ("node", "--eval", "/lib/toy-cli/main.js.txt"),
        ("cat", "/lib/toy-cli/main.js"),
        ("toy", "login"),
        ("toy", "--version"),
        ("toy", "x", "--help"),
        ("toyota",),
    ],
)
def test_others_are_not(argv):
    assert not TOY.is_agent(process(*argv))


def test_the_innermost_is_the_one_that_talks():
    outer, inner = process("node", "/lib/toy-cli/main.js", pid=1), process("node", "-x", "/lib/toy-cli/main.js", pid=2)
    assert TOY.found([process("bash"), outer, inner, process("git")]) == inner
    assert TOY.found([process("bash")]) is None


def test_one_that_has_just_been_forked_is_not_yet_anything():
    agent, forked = process("toy", "go", pid=1), process("toy", "go", pid=2)
    assert TOY.found([agent, forked]) == agent


def test_an_option_has_its_value_behind_or_beside_it():
    assert value_of(("--port",), ("-x", "--port", "80")) == "80"
    assert value_of(("--port", "-p"), ("-p=81",)) == "81"
    assert value_of(("--port",), ("--port",)) == ""
    assert value_of(("--port",), ()) == ""


def test_what_is_said_to_a_script_stands_behind_it():
    assert script_words(process("node", "-x", "/lib/toy-cli/main.js", "go", "on"), TOY.script) == ("go", "on")
    assert script_words(process("node (deleted)", "/lib/toy-cli/main.js"), TOY.script) == ()
    assert script_words(process("toy", "/lib/toy-cli/main.js"), TOY.script) is None
    assert script_words(process(), TOY.script) is None


def test_a_session_is_taken_up_again_by_its_name_and_by_nothing_else():
    resume = Resume(("toy", "--resume={}"))
    assert resume.command(SESSION) == ("toy", f"--resume={SESSION}")
    assert [resume.command(one) for one in ("", "latest", f"{SESSION};rm", "--yolo")] == [()] * 4
    assert Resume(("toy", "-s", "{}"), r"ses_\d+").command("ses_7") == ("toy", "-s", "ses_7")
