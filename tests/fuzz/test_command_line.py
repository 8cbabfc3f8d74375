"""Any command line: it ends with an exit status, without an internal error, and prints no control characters."""

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
"""Operations that wait are left out: the fake clock never advances."""
WAITING_FLAGS = ("--follow", "--wait-for")
values = st.sampled_from(
    ["1", "2", "9", "0", "-1", "99999999999999999999", "%1", "=work:", "work", "pane:local/work/1/%1", "runtime:1",
     "x:",
     "error", "", " ", "today", "10m", "1e999", "nan", "inf", "true", "--", "-", "-x", "json", "\x1b[2J", "\udcff", "²",
     "/", "../..", "a" * 300, "*", '"', "(", "é", "\0", "\n", "9999-99-99", "5d" * 200]
)  # fmt: skip


def command_lines() -> st.SearchStrategy[tuple[str, ...]]:
    def words(op) -> st.SearchStrategy[tuple[str, ...]]:
        flags = [
            flag for argument in list_arguments(op.args_type) for flag in argument.flags if flag not in WAITING_FLAGS
        ]
        flags_or_values = st.sampled_from(flags) | values if flags else values
        joined = st.builds(lambda flag, value: f"{flag}={value}", st.sampled_from(flags), values) if flags else values
        general = st.sampled_from(
            ["--format", "--json", "--full", "--fields", "--fields=state", "-q", "--help", "--format=plain"]
        )
        return st.lists(flags_or_values | joined | general, max_size=6).map(lambda rest: (*op.command.split(), *rest))

    return st.sampled_from(OPS).flatmap(words)


async def run_in_sample_services(words: tuple[str, ...], folder: str) -> CommandResult:
    services = await build_sample_services(Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r"))
    async with asyncio.timeout(20):
        return await run_command(services, *words)


@pytest.fixture(autouse=True)
def work_in_tmp_path(tmp_path, monkeypatch) -> None:
    """Make operations that write files on the client write them into tmp_path."""
    monkeypatch.chdir(tmp_path)


@build_settings(150)
@given(command_lines() | st.lists(values, max_size=3).map(tuple), st.booleans())
def test_any_command_line_ends_without_an_internal_error_or_control_characters(words, is_robot):
    with tempfile.TemporaryDirectory() as folder:
        result = asyncio.run(run_in_sample_services(("robot", *words) if is_robot else words, folder))
    assert result.status in range(128)
    assert result.status != InternalError.exit_status, result
    assert find_control_characters(result.out + result.err, colours="--escapes" in " ".join(words)) == set()
