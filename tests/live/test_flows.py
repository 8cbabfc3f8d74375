"""The flows in docs/architecture.md pass the files that the page names; a trace of daemon and client proves it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source import ROOT
from tests.architecture.walks import TracedInstance
from tests.live.conftest import run_watched_tmux
from tests.live.polling import wait_until
from tests.live.terminal_user import open_terminal_user

PAGE = ROOT / "docs" / "architecture.md"
FLOWS = ("capture", "search", "send", "permission request", "workflow", "maintenance")


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[str]]]:
    with run_watched_tmux() as scene:
        traced = TracedInstance(scene.visor, tmp_path_factory.mktemp("trace"))
        with open_terminal_user(scene) as user:
            yield dict(trace_flows(traced, scene, user))


def trace_flows(traced: TracedInstance, scene, user) -> Iterator[tuple[str, list[str]]]:
    visor = traced.visor
    with traced.trace() as files:
        scene.print_word(user.shell_pane, "albatross")
    yield "capture", files
    with traced.trace() as files:
        visor.call_robot("search", "albatross")
    yield "search", files
    with traced.trace() as files:
        user.run_command(f"visor send {user.pane_id} true")
        user.wait_for_text("delivered")
    yield "send", files
    with traced.trace() as files:
        visor.run_checked("demo")
        (request,) = wait_until(lambda: visor.call_robot("inbox")["items"])
        user.run_command(f"visor approve {request['id']}")
        wait_until(lambda: not visor.call_robot("inbox")["items"])
    yield "permission request", files
    workflow = Path(visor.paths.config_dir, "workflows", "leave_note.yaml")
    workflow.parent.mkdir(exist_ok=True)
    workflow.write_text("name: leave_note\nmode: 'on'\nsteps: [{note: done}]\n")
    with traced.trace() as files:
        user.run_command(f"visor workflow run leave_note {user.pane_id}")
        wait_until(
            lambda: [
                run for run in visor.call_robot("workflow", "status", "--all")["items"] if run["status"] == "completed"
            ]
        )
    yield "workflow", files
    with traced.trace() as files:
        visor.run_checked("db", "prune")
    yield "maintenance", files


@pytest.mark.parametrize("flow", FLOWS)
def test_the_page_names_files_that_the_flow_passes(traces: dict[str, list[str]], flow: str) -> None:
    section = re.search(rf"^### {flow.capitalize()}\n(.*?)(?=^##)", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert section, f"docs/architecture.md has no section about: {flow}"
    named = re.findall(r"`((?:\w+/)*\w+\.py)`", section[1])
    assert len(named) >= 4
    assert [name for name in named if name not in traces[flow] and not name.startswith("recorder/")] == []
