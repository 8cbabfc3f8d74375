"""The inspector of the protocol's authors calls every tool on its command line."""

import json
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from termvisor.ops.api.tool_catalog import NAMED_TOOLS, OPERATION_BY_TOOL
from termvisor.settings import Paths
from tests.live.mcp.installed_suites import INSPECTOR, build_node_environment, find_node
from tests.unit.fake_daemon import build_environment, run_fake_daemon

pytestmark = pytest.mark.live
TOOLS = [tool for tool in OPERATION_BY_TOOL if tool not in NAMED_TOOLS]
ARGUMENTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("get_text", "get_screen", "explain", "reserve", "replay"), ("pane=1",)),
    "search": ("text=hello",),
    "wait_for": ("pane=1", "pattern=hello"),
    "send": ("pane=1", "text=make", "dry_run=true"),
    "answer": ("pane=1", "choice=deny"),
    "workflow_run": ("name=handle_compaction", "pane=1", "dry_run=true"),
    "workflow_dry_run": ("name=handle_compaction", "pane=1"),
    "workflow_show": ("name=handle_compaction",),
    **dict.fromkeys(("workflow_history", "workflow_pause", "workflow_resume", "workflow_cancel"), ("run=1",)),
    "workflow_signal": ("run=1", "word=go"),
    "rules_test": ("text=bash: gti: command not found",),
    "release": ("id=1",),
    "run": ('command=["true"]',),
    **dict.fromkeys(("job_status", "harvest"), ("job=1",)),
}


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Paths]:
    from termvisor.testing.private_tmux import make_short_folder

    with make_short_folder() as folder, run_fake_daemon(folder) as running:
        yield running


def _inspect(paths: Paths, *words: str) -> dict:
    given = [
        word
        for name, value in build_environment(paths).items()
        if name.startswith("VISOR_")
        for word in ("-e", f"{name}={value}")
    ]
    visor = Path(__file__).parents[3] / ".venv" / "bin" / "visor"
    command = [find_node(), str(INSPECTOR), "--cli", *given, str(visor), "mcp", "--tools", "all", *words]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=90, env=build_node_environment(), check=False
    )
    assert done.stdout, done.stderr
    return dict(json.loads(done.stdout))


def test_it_lists_tools_resources_and_prompts(paths: Paths) -> None:
    assert [tool["name"] for tool in _inspect(paths, "--method", "tools/list")["tools"]] == TOOLS
    assert len(_inspect(paths, "--method", "resources/list")["resources"]) == 7
    assert len(_inspect(paths, "--method", "prompts/list")["prompts"]) == 3
    read = _inspect(paths, "--method", "resources/read", "--uri", "visor://panes")
    assert json.loads(read["contents"][0]["text"])["summary"]["panes"] == 3


def test_it_calls_every_tool(paths: Paths) -> None:
    def call(tool: str) -> tuple[str, dict]:
        words = [word for argument in ARGUMENTS.get(tool, ()) for word in ("--tool-arg", argument)]
        return tool, _inspect(paths, "--method", "tools/call", "--tool-name", tool, *words)

    with ThreadPoolExecutor(3) as pool:
        answers = dict(pool.map(call, TOOLS))
    texts = {tool: answer["content"][0]["text"] for tool, answer in answers.items()}
    codes = {tool: text.split(":")[1].strip() for tool, text in texts.items() if text.startswith("error:")}
    # What exists is answered; what does not is an error with a code of the table, never of the protocol.
    assert not {"internal", "invalid_args", "unknown_command", "unavailable"} & set(codes.values()), codes
    assert "hello from 1" in texts["get_text"]
    assert "would type 'make" in texts["send"]
