from termvisor.model.action.action import Kill
from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_without_consent_it_shows_what_would_happen_and_does_nothing() -> None:
    world = await build_sample_services()
    answered = await run_command(world, "kill", "1", "--signal", "TERM")
    assert answered.status == 2
    assert "send SIGTERM to pane 1 (work:1.0" in answered.question
    assert "policy says allow" in answered.question
    assert (answered.approval_number, answered.editable_text) == ("", "")
    robot = await run_command(world, "robot", "kill", "1")
    assert (robot.status, robot.envelope["error"]["code"]) == (2, "unconfirmed")
    assert world.gate.executed == []


async def test_with_consent_it_goes_through_the_door() -> None:
    world = await build_sample_services()
    await run_command(world, "kill", "1", "--yes")
    await run_command(world, "kill", "1", "--pane", "--yes")
    actions = [action for action, _ in world.gate.executed]
    assert actions == [Kill(pane=1), Kill(pane=1, closes_pane=True)]


async def test_a_dry_run_needs_no_consent() -> None:
    world = await build_sample_services()
    assert (await run_command(world, "kill", "1", "--dry-run")).status == 0
    assert world.gate.executed == []
