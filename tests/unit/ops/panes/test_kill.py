from termvisor.model.action.action import Kill
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_without_confirmation_only_a_preview_is_shown() -> None:
    services = await build_sample_services()
    answered = await run_command(services, "kill", "1", "--signal", "TERM")
    assert answered.status == 2
    assert "send SIGTERM to pane 1 (work:1.0" in answered.question
    assert "policy: allow" in answered.question
    assert (answered.approval_number, answered.editable_text) == ("", "")
    robot = await run_command(services, "robot", "kill", "1")
    assert (robot.status, robot.envelope["error"]["code"]) == (2, "unconfirmed")
    assert services.gate.executed == []


async def test_with_confirmation_the_action_goes_through_the_gate() -> None:
    services = await build_sample_services()
    await run_command(services, "kill", "1", "--yes")
    await run_command(services, "kill", "1", "--pane", "--yes")
    actions = [action for action, _ in services.gate.executed]
    assert actions == [Kill(pane=1), Kill(pane=1, closes_pane=True)]


async def test_a_dry_run_needs_no_confirmation() -> None:
    services = await build_sample_services()
    assert (await run_command(services, "kill", "1", "--dry-run")).status == 0
    assert services.gate.executed == []
