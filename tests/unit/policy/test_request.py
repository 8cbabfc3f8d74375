import pytest

from termvisor.model.action.action import RunProgram, SendKeys, SendText, Spawn
from termvisor.model.ids import PaneId
from termvisor.policy.request import convert_keys_to_text, get_argv, get_command_text, has_blind_enter, resolve_scope
from tests.unit.policy.policy_requests import HOME, make_command_request, make_request

PANE = PaneId(7)


def build_send_keys(*names: str, **given: object):
    return make_request(SendKeys(pane=PANE, keys=names), is_command=True, **given)


def test_only_what_a_shell_would_run_is_a_command() -> None:
    assert get_command_text(make_command_request("ls")) == "ls"
    assert get_command_text(make_request(SendText(pane=PANE, text="ls"))) is None


def test_text_already_at_the_prompt_is_part_of_the_command() -> None:
    assert get_command_text(make_command_request("x", standing="rm -rf ")) == "rm -rf x"


def test_typed_keys_are_a_command() -> None:
    assert get_command_text(build_send_keys("r", "m", "Space", "x", "Enter")) == "rm x\n"


@pytest.mark.parametrize(
    ("names", "standing", "is_blind"),
    [
        (("Enter",), None, True),
        (("Enter",), "ls", False),
        (("Up", "Enter"), "", True),
        (("l", "s", "Enter"), None, False),
        (("Up",), None, False),
        (("C-r", "a", "C-m"), "", True),
    ],
)
def test_enter_on_an_unknown_or_edited_line_is_blind(names, standing, is_blind) -> None:
    assert has_blind_enter(build_send_keys(*names, standing=standing)) is is_blind


def test_program_paths_are_relative_to_its_folder() -> None:
    run, spawn = (
        make_request(RunProgram(argv=("a", "b"), cwd="~/x")),
        make_request(Spawn(where="window", command=("c",), cwd="y")),
    )
    assert (get_argv(run), get_argv(spawn), get_argv(make_command_request("ls"))) == (("a", "b"), ("c",), ())
    assert (resolve_scope(run).cwd, resolve_scope(spawn).cwd) == (f"{HOME}/x", f"{HOME}/src/y")


def test_pane_of_a_request_comes_from_context_or_action() -> None:
    assert make_command_request("ls").pane == PANE
    assert make_request(
        Spawn(where="pane", beside=PaneId(3)), place=type(make_command_request("ls").place)()
    ).pane == PaneId(3)


def test_named_keys_type_nothing_except_enter_and_space() -> None:
    assert convert_keys_to_text(("rm -rf /", "C-m")) == "rm -rf /\n"
    assert convert_keys_to_text(("C-a", "Up", "F5", "M-x", "^C")) == ""
