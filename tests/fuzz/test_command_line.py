"""Any words as a command line: an answer with an exit status, never a fault of ours, and nothing a terminal obeys."""

import asyncio
import tempfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.errors import InternalError
from termvisor.ops.api import catalog
from termvisor.ops.api.arguments import list_arguments
from termvisor.settings import Paths
from termvisor.testing.operation_calls import CommandResult, run_command
from termvisor.testing.sample_services import build_sample_services
from tests.fuzz.example_count import build_settings
from tests.fuzz.hostile_text import find_control_characters

OPS = [op for op in catalog.load_all_operations() if not op.is_live and op.name not in ("wait_for", "watch_events")]
"""Those that wait for something would wait for ever: no time passes here."""
ENDLESS = ("--follow", "--wait-for")
values = st.sampled_from(
    ["1", "2", "9", "0", "-1", "99999999999999999999", "%1", "=work:", "work", "pane:local/work/1/%1", "runtime:1",
     "x:",
     "error", "", " ", "today", "10m", "1e999", "nan", "inf", "true", "--", "-", "-x", "json", "\x1b[2J", "\udcff", "²",
     "/", "../..", "a" * 300, "*", '"', "(", "é", "\0", "\n", "9999-99-99", "5d" * 200]
)  # fmt: skip


def command_lines() -> st.SearchStrategy[tuple[str, ...]]:
    def words(op) -> st.SearchStrategy[tuple[str, ...]]:
        flags = [flag for argument in list_arguments(op.args_type) for flag in argument.flags if flag not in ENDLESS]
        some = st.sampled_from(flags) | values if flags else values
        joined = st.builds(lambda flag, value: f"{flag}={value}", st.sampled_from(flags), values) if flags else values
        general = st.sampled_from(["--format", "--json", "-q", "--help", "--format=plain"])
        return st.lists(some | joined | general, max_size=6).map(lambda rest: (*op.command.split(), *rest))

    return st.sampled_from(OPS).flatmap(words)


async def answer_to(words: tuple[str, ...], folder: str) -> CommandResult:
    world = await build_sample_services(Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r"))
    async with asyncio.timeout(20):
        return await run_command(world, *words)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch) -> None:
    """Ops that write files on the caller's side write them here."""
    monkeypatch.chdir(tmp_path)


@build_settings(150)
@given(command_lines() | st.lists(values, max_size=3).map(tuple), st.booleans())
def test_any_words_get_an_answer_that_is_not_our_fault(words, is_robot):
    with tempfile.TemporaryDirectory() as folder:
        answered = asyncio.run(answer_to(("robot", *words) if is_robot else words, folder))
    assert answered.status in range(128)
    assert answered.status != InternalError.exit_status, answered
    assert find_control_characters(answered.out + answered.err, colours="--escapes" in " ".join(words)) == set()
