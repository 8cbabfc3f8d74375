import pytest

from termvisor.model.action.action import RunProgram, SendKeys, SendText, Spawn
from termvisor.model.ids import PaneId
from termvisor.policy.request import argv, keys_as_text, presses_blindly, scope_of, typed
from tests.unit.policy.asking import HOME, asks, command

PANE = PaneId(7)


def keys(*names: str, **given: object):
    return asks(SendKeys(pane=PANE, keys=names), is_command=True, **given)


def test_only_what_a_shell_would_run_is_a_command() -> None:
    assert typed(command("ls")) == "ls"
    assert typed(asks(SendText(pane=PANE, text="ls"))) is None


def test_what_stands_at_the_prompt_already_is_run_too() -> None:
    assert typed(command("x", standing="rm -rf ")) == "rm -rf x"


def test_keys_that_spell_a_command_are_one() -> None:
    assert typed(keys("r", "m", "Space", "x", "Enter")) == "rm x\n"
    assert keys_as_text(("rm -rf /", "C-m")) == "rm -rf /\n"
    assert keys_as_text(("C-a", "Up", "F5", "M-x", "^C")) == ""


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
def test_enter_on_a_line_that_only_the_screen_shows_is_blind(names, standing, is_blind) -> None:
    assert presses_blindly(keys(*names, standing=standing)) is is_blind


def test_programs_are_run_as_they_are_in_the_folder_they_name() -> None:
    run, spawn = asks(RunProgram(argv=("a", "b"), cwd="~/x")), asks(Spawn(where="window", command=("c",), cwd="y"))
    assert (argv(run), argv(spawn), argv(command("ls"))) == (("a", "b"), ("c",), ())
    assert (scope_of(run).cwd, scope_of(spawn).cwd) == (f"{HOME}/x", f"{HOME}/src/y")


def test_a_request_knows_its_pane_by_the_place_or_the_action() -> None:
    assert command("ls").pane == PANE
    assert asks(Spawn(where="pane", beside=PaneId(3)), place=type(command("ls").place)()).pane == PaneId(3)
