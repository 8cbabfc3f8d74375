"""Recognition of programs by their command line."""

import pytest

from termvisor.agents.adapters.command_line import (
    ProgramMatcher,
    SessionResume,
    find_program_names,
    get_option_value,
    get_script_arguments,
)
from tests.unit.agents.adapters.adapter_inputs import SESSION, build_process

TOY = ProgramMatcher(
    program_names=frozenset({"toy"}), script_pattern=r"/toy-cli/main\.js$", non_agent_commands=frozenset({"login"})
)


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
def test_an_agent_is_recognized_by_its_command_line(argv):
    assert TOY.is_agent(build_process(*argv))


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
def test_other_command_lines_are_not_agents(argv):
    assert not TOY.is_agent(build_process(*argv))


def test_the_innermost_of_nested_processes_is_the_agent():
    outer, inner = (
        build_process("node", "/lib/toy-cli/main.js", pid=1),
        build_process("node", "-x", "/lib/toy-cli/main.js", pid=2),
    )
    assert TOY.find_agent([build_process("bash"), outer, inner, build_process("git")]) == inner
    assert TOY.find_agent([build_process("bash")]) is None


def test_a_forked_copy_of_an_agent_is_ignored():
    agent, forked = build_process("toy", "go", pid=1), build_process("toy", "go", pid=2)
    assert TOY.find_agent([agent, forked]) == agent


def test_an_option_value_is_the_next_argument_or_follows_an_equals_sign():
    assert get_option_value(("--port",), ("-x", "--port", "80")) == "80"
    assert get_option_value(("--port", "-p"), ("-p=81",)) == "81"
    assert get_option_value(("--port",), ("--port",)) == ""
    assert get_option_value(("--port",), ()) == ""


def test_script_arguments_are_those_after_the_script():
    assert get_script_arguments(
        build_process("node", "-x", "/lib/toy-cli/main.js", "go", "on"), TOY.script_pattern
    ) == ("go", "on")
    assert get_script_arguments(build_process("node (deleted)", "/lib/toy-cli/main.js"), TOY.script_pattern) == ()
    assert get_script_arguments(build_process("toy", "/lib/toy-cli/main.js"), TOY.script_pattern) is None
    assert get_script_arguments(build_process(), TOY.script_pattern) is None


def test_a_session_is_resumed_only_by_a_well_formed_id():
    resume = SessionResume(("toy", "--resume={}"))
    assert resume.build_command(SESSION) == ("toy", f"--resume={SESSION}")
    assert [resume.build_command(one) for one in ("", "latest", f"{SESSION};rm", "--yolo")] == [()] * 4
    assert SessionResume(("toy", "-s", "{}"), r"ses_\d+").build_command("ses_7") == ("toy", "-s", "ses_7")


@pytest.mark.parametrize(
    ("argv", "names"),
    [
        (("mine", "go"), ("mine", "", "")),
        (("node", "--no-warnings", "/home/ada/mine/cli.js"), ("node", "cli.js", "")),
        (
            ("node", "/usr/lib/node_modules/@acme/mine/dist/cli.js"),
            ("node", "@acme/mine/dist/cli.js", "@acme/mine"),
        ),
        (("node", "/opt/a/node_modules/b/node_modules/mine/cli.js"), ("node", "mine/cli.js", "mine")),
        (("node", "/usr/lib/node_modules/.bin/mine"), ("node", "mine", "")),
    ],
)
def test_a_script_is_named_by_its_path_in_its_package(argv, names):
    assert find_program_names(build_process(*argv)) == names
