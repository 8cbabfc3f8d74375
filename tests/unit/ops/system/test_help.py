import pytest

from termvisor.ops.api import catalog as catalogue
from termvisor.ops.api.catalog import CHAPTERS, NAMES, every
from termvisor.ops.api.local_services import LocalWorld
from termvisor.ops.api.operation import Op
from termvisor.ops.system.help import page
from termvisor.testing.asking import ask


async def test_the_list_names_every_command() -> None:
    answered = await ask(LocalWorld(), "help")
    assert all(op.command in answered.out for op in every())
    assert [chapter for chapter in CHAPTERS if f"\n{chapter}:\n" not in answered.out] == []
    assert answered.status == 0


async def test_robots_get_the_list_with_examples() -> None:
    data = (await ask(LocalWorld(), "robot", "help", "--examples")).envelope["data"]
    assert len(data["commands"]) == len(NAMES)
    assert all(line["examples"] for line in data["commands"])
    assert "visor list-panes" in (await ask(LocalWorld(), "help", "--examples")).out


@pytest.mark.parametrize("argv", [("help", "search"), ("search", "--help"), ("search", "error", "-h"), ("-h", "query")])
async def test_one_command_is_explained_however_it_is_asked(argv: tuple[str, ...]) -> None:
    answered = await ask(LocalWorld(), *argv)
    assert answered.out.startswith("Find text in all that panes printed")
    assert answered.status == 0


async def test_help_on_a_two_word_command() -> None:
    assert "usage: visor config init [options]" in (await ask(LocalWorld(), "help", "config", "init")).out


async def test_help_without_a_command_is_the_list() -> None:
    assert (await ask(LocalWorld(), "--help")).out == (await ask(LocalWorld(), "help")).out


async def test_help_on_nothing_known_is_an_error() -> None:
    assert (await ask(LocalWorld(), "help", "nonsense")).status == 2


@pytest.mark.parametrize("op", every(), ids=lambda op: op.name)
def test_a_page_says_everything(op: Op) -> None:
    text = page(op)
    assert f"usage: visor {op.command}" in text
    assert all(example.does in text for example in op.examples)
    assert all(f"  {status}" in text for status, _ in op.exits)


def test_a_page_names_the_commands_that_begin_with_the_same_word() -> None:
    text = page(catalogue.op("workflow_list"))
    assert "see also: workflow show, workflow run, workflow dry-run" in text
    assert "workflow list" not in text.partition("see also: ")[2].partition("\n")[0]
    assert "see also" not in page(catalogue.op("list_panes"))
