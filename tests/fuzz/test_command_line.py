"""Any words as a command line: an answer with an exit status, never a fault of ours, and nothing a terminal obeys."""

import asyncio
import tempfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.errors import Broken
from termvisor.ops.api import catalog as catalogue
from termvisor.ops.api.arguments import arguments
from termvisor.settings import Places
from termvisor.testing.asking import Answered, ask, lively
from tests.fuzz.effort import examples
from tests.fuzz.faces import raw_controls

OPS = [op for op in catalogue.every() if not op.is_live and op.name not in ("wait_for", "watch_events")]
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
        flags = [flag for argument in arguments(op.Input) for flag in argument.flags if flag not in ENDLESS]
        some = st.sampled_from(flags) | values if flags else values
        joined = st.builds(lambda flag, value: f"{flag}={value}", st.sampled_from(flags), values) if flags else values
        general = st.sampled_from(["--format", "--json", "-q", "--help", "--format=plain"])
        return st.lists(some | joined | general, max_size=6).map(lambda rest: (*op.command.split(), *rest))

    return st.sampled_from(OPS).flatmap(words)


async def answer_to(words: tuple[str, ...], folder: str) -> Answered:
    world = await lively(Places(f"{folder}/c", f"{folder}/d", f"{folder}/r"))
    async with asyncio.timeout(20):
        return await ask(world, *words)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch) -> None:
    """Ops that write files on the caller's side write them here."""
    monkeypatch.chdir(tmp_path)


@examples(150)
@given(command_lines() | st.lists(values, max_size=3).map(tuple), st.booleans())
def test_any_words_get_an_answer_that_is_not_our_fault(words, is_robot):
    with tempfile.TemporaryDirectory() as folder:
        answered = asyncio.run(answer_to(("robot", *words) if is_robot else words, folder))
    assert answered.status in range(128)
    assert answered.status != Broken.exit_status, answered
    assert raw_controls(answered.out + answered.err, colours="--escapes" in " ".join(words)) == set()
