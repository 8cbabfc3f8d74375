"""One code, one meaning: missing, taken and forbidden objects have different codes."""

import pytest

from termvisor.model.action.action import Actor
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


@pytest.mark.parametrize(
    ("words", "code", "status"),
    [
        (("get-text", "900"), "pane_not_found", 4),
        (("search", "error", "pane:900"), "pane_not_found", 4),
        (("interrupt", "1"), "agent_not_found", 4),
        (("revive", "900"), "not_found", 4),
        (("accounts", "show", "900"), "not_found", 4),
        (("rules", "show", "900"), "not_found", 4),
        (("rules", "lint", "/nowhere"), "not_found", 4),
        (("events", "unmute", "900"), "not_found", 4),
        (("workflow", "show", "900"), "workflow_not_found", 4),
    ],
)
async def test_a_missing_object_is_not_reported_as_a_missing_pane(
    words: tuple[str, ...], code: str, status: int
) -> None:
    answered = await run_command(await build_sample_services(), "robot", *words)
    assert (answered.envelope["error"]["code"], answered.status) == (code, status)


async def test_a_program_that_approves_is_not_denied_by_the_policy() -> None:
    services = await build_sample_services()
    services.gate.actor = Actor(kind="robot", uid=1000, pid=7)
    answered = await run_command(services, "robot", "approve", "1", "--edit", "make test")
    assert (answered.envelope["error"]["code"], answered.status) == ("not_permitted", 77)
