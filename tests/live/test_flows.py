"""The flows in docs/architecture.md pass the files that the page names; a trace of daemon and client proves it."""

import re
from collections.abc import Iterator

import pytest

from tests.architecture.source import ROOT
from tests.architecture.walks import FlowTracer, TracedInstance, trace_flows
from tests.live.conftest import run_watched_tmux
from tests.live.terminal_user import open_terminal_user

pytestmark = pytest.mark.live
PAGE = ROOT / "docs" / "architecture.md"
FLOWS = ("capture", "search", "send", "permission request", "workflow", "maintenance")


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[str]]]:
    with run_watched_tmux() as scene:
        traced = TracedInstance(scene.visor, tmp_path_factory.mktemp("trace") / "files")
        with open_terminal_user(scene) as user:
            yield dict(trace_flows(FlowTracer(traced, repeats=3, subtracts_idle=False), scene, user))


@pytest.mark.parametrize("flow", FLOWS)
def test_each_flow_passes_the_files_named_in_the_architecture_page(traces: dict[str, list[str]], flow: str) -> None:
    section = re.search(rf"^### {flow.capitalize()}\n(.*?)(?=^##)", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert section, f"docs/architecture.md has no section about: {flow}"
    named = re.findall(r"`((?:\w+/)*\w+\.py)`", section[1])
    assert len(named) >= 4
    assert [name for name in named if name not in traces[flow] and not name.startswith("recorder/")] == []
