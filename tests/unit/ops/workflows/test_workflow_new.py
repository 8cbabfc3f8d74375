from pathlib import Path

import pytest

from termvisor.model.paths import Paths
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from termvisor.workflows.files.loader import load_workflow_file


@pytest.fixture
def services(tmp_path: Path) -> FakeServices:
    return FakeServices(paths=Paths(str(tmp_path), str(tmp_path), str(tmp_path)))


async def test_a_new_workflow_is_valid_and_never_overwritten(services: FakeServices) -> None:
    result = await run_command(services, "workflow", "new", "go_on")
    file = Path(services.paths.workflows_dir, "go_on.yaml")
    assert result.out.startswith(f"wrote {file}; edit it")
    workflow = load_workflow_file(str(file))
    assert (workflow.name, workflow.mode, workflow.trigger.events) == ("go_on", "ask", ())
    file.write_text("mine")
    again = await run_command(services, "workflow", "new", "go_on")
    assert (again.status, "choose another name" in again.err, file.read_text()) == (75, True, "mine")


async def test_a_new_workflow_may_be_started_by_an_event_of_an_agent(services: FakeServices) -> None:
    await run_command(services, "workflow", "new", "reread", "--event", "session.compaction", "--agent", "codex")
    trigger = load_workflow_file(f"{services.paths.workflows_dir}/reread.yaml").trigger
    assert (trigger.events, trigger.agents) == (("session.compaction",), ("codex",))


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("../x",), "not a workflow name"),
        (("Go",), "not a workflow name"),
        (("x" * 101,), "not a workflow name"),
        (("go", "--event", "session.compation"), "session.compaction"),
        (("go", "--agent", "codex"), "--event"),
    ],
)
async def test_a_workflow_that_could_not_start_is_rejected(
    services: FakeServices, words: tuple[str, ...], error: str
) -> None:
    result = await run_command(services, "workflow", "new", *words)
    assert (result.status, error in result.err) == (2, True)
    assert not Path(services.paths.workflows_dir).exists()
