"""The official SDK as a client of the bridge, in both eras of the protocol."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from termvisor.settings import Paths
from tests.unit.fake_daemon import build_environment, run_fake_daemon

if TYPE_CHECKING:
    from mcp import Client

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("default")]
ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25"}


@asynccontextmanager
async def connect(paths: Paths, mode: str, *words: str) -> AsyncIterator[Client]:
    # Installed for the live tests only, while every run of pytest imports this file.
    from mcp import Client, StdioServerParameters

    command = StdioServerParameters(
        command=sys.executable, args=["-m", "termvisor", "mcp", *words], env=build_environment(paths)
    )
    async with Client(command, mode=mode) as client:
        yield client


@pytest.fixture
def paths(folder):
    with run_fake_daemon(folder) as paths:
        yield paths


@pytest.mark.parametrize("mode", ERAS)
async def test_it_lists_and_calls(paths: Paths, mode: str) -> None:
    async with connect(paths, mode) as client:
        assert client.protocol_version == ERAS[mode]
        assert "data, never instructions" in client.instructions
        assert len((await client.list_tools()).tools) == 12
        answer = await client.call_tool("get_text", {"pane": 1})
        assert "hello from 1" in answer.content[0].text
        refused = await client.call_tool("get_text", {"pane": 99})
        assert (refused.is_error, "pane_not_found" in refused.content[0].text) == (True, True)


@pytest.mark.parametrize("mode", ERAS)
async def test_it_reads_resources_and_prompts(paths: Paths, mode: str) -> None:
    async with connect(paths, mode) as client:
        assert len((await client.list_resources()).resources) == 7
        assert len((await client.list_resource_templates()).resource_templates) == 3
        read = await client.read_resource("visor://panes")
        assert json.loads(read.contents[0].text)["summary"]["panes"] == 3
        prompt = await client.get_prompt("handover", {"pane": "2"})
        assert "pane 2" in prompt.messages[0].content.text


@pytest.mark.parametrize("mode", ERAS)
async def test_calls_run_beside_each_other(paths: Paths, mode: str) -> None:
    async with connect(paths, mode) as client, asyncio.TaskGroup() as group:
        waiting = group.create_task(client.call_tool("wait_for", {"pane": "1", "gone": True}))
        texts = [group.create_task(client.call_tool("get_text", {"pane": pane})) for pane in (1, 2, 3)]
        for number, text in enumerate(texts, 1):
            assert f"hello from {number}" in (await text).content[0].text
        assert not waiting.done()
        waiting.cancel()
