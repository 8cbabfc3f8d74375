import pytest

from termvisor.ops.api import catalog
from termvisor.ops.api.catalog import OPERATION_NAMES, OPERATION_PATHS, load_all_operations
from termvisor.ops.api.operation import Operation
from termvisor.ops.api.services import LocalServices
from termvisor.ops.system.help import render_page
from termvisor.testing.operation_calls import run_command


async def test_the_list_names_every_command() -> None:
    answered = await run_command(LocalServices(), "help")
    assert all(op.command in answered.out for op in load_all_operations())
    assert [chapter for chapter in OPERATION_PATHS if f"\n{chapter}:\n" not in answered.out] == []
    assert answered.status == 0


async def test_robots_get_the_list_with_examples() -> None:
    data = (await run_command(LocalServices(), "robot", "help", "--examples")).envelope["data"]
    assert len(data["commands"]) == len(OPERATION_NAMES)
    assert all(line["examples"] for line in data["commands"])
    assert "visor list-panes" in (await run_command(LocalServices(), "help", "--examples")).out


async def test_robots_get_a_sentence_per_command_and_the_options_of_one() -> None:
    listed = (await run_command(LocalServices(), "robot", "help", is_full=False)).envelope["data"]
    assert listed["summaries"]["send"].startswith("Type text into a pane")
    assert len(listed["summaries"]) + len(listed["more"]) == len(OPERATION_NAMES)
    command = (await run_command(LocalServices(), "robot", "help", "events", is_full=False)).envelope["data"]["command"]
    options = {option.pop("name"): option for option in command["options"]}
    assert options["--limit"] == {"type": "integer", "default": 20, "about": "Maximum number of events."}
    assert options["--unhandled"]["type"] == "switch"
    assert options["--severity"]["values"] == ["info", "warning", "error", "critical"]


@pytest.mark.parametrize("argv", [("help", "search"), ("search", "--help"), ("search", "error", "-h"), ("-h", "query")])
async def test_all_ways_to_request_help_show_the_page(argv: tuple[str, ...]) -> None:
    answered = await run_command(LocalServices(), *argv)
    assert answered.out.startswith("Search the output and screens of all panes")
    assert answered.status == 0


async def test_help_on_a_two_word_command() -> None:
    assert "usage: visor config init [options]" in (await run_command(LocalServices(), "help", "config", "init")).out


async def test_help_without_a_command_is_the_list() -> None:
    assert (await run_command(LocalServices(), "--help")).out == (await run_command(LocalServices(), "help")).out


async def test_help_on_an_unknown_command_is_an_error() -> None:
    assert (await run_command(LocalServices(), "help", "nonsense")).status == 2


@pytest.mark.parametrize("op", load_all_operations(), ids=lambda op: op.name)
def test_a_page_is_complete(op: Operation) -> None:
    text = render_page(op)
    assert f"usage: visor {op.command}" in text
    assert all(example.description in text for example in op.examples)
    assert all(f"  {status}" in text for status, _ in op.exit_statuses)


def test_a_page_lists_the_commands_of_the_same_group() -> None:
    text = render_page(catalog.load_operation("workflow_list"))
    assert "see also: workflow new, workflow show, workflow run, workflow dry-run" in text
    assert "workflow list" not in text.partition("see also: ")[2].partition("\n")[0]
    assert "see also" not in render_page(catalog.load_operation("list_panes"))


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        (("config",), "config set"),
        (("secret",), "export"),
        (("state",), "list-panes"),
        (("up",), "visor up --help"),
        (("setup",), "setup shell"),
    ],
)
async def test_any_word_is_explained(topic: tuple[str, ...], expected: str) -> None:
    answered = await run_command(LocalServices(), "help", *topic)
    assert (answered.status, expected in answered.out) == (0, True), answered.out


async def test_a_word_that_no_command_is_about_is_an_error() -> None:
    assert (await run_command(LocalServices(), "help", "xyzzy")).status == 2


async def test_a_wrong_call_names_the_help_of_its_command() -> None:
    answered = await run_command(LocalServices(), "config", "set", "retention")
    assert answered.err.endswith("hint: Run `visor help config set` for its arguments and options.\n")
    assert "--quiet takes no value" in (await run_command(LocalServices(), "version", "--quiet=2")).err
