from termvisor.model.action.action import Kill
from termvisor.testing.asking import ask, lively


async def test_without_consent_it_shows_what_would_happen_and_does_nothing() -> None:
    world = await lively()
    answered = await ask(world, "kill", "1", "--signal", "TERM")
    assert answered.status == 2
    assert "send SIGTERM to pane 1 (work:1.0" in answered.shown
    assert "policy says allow" in answered.shown
    assert (answered.number, answered.editable) == ("", "")
    robot = await ask(world, "robot", "kill", "1")
    assert (robot.status, robot.envelope["error"]["code"]) == (2, "unconfirmed")
    assert world.door.done == []


async def test_with_consent_it_goes_through_the_door() -> None:
    world = await lively()
    await ask(world, "kill", "1", "--yes")
    await ask(world, "kill", "1", "--pane", "--yes")
    actions = [action for action, _ in world.door.done]
    assert actions == [Kill(pane=1), Kill(pane=1, closes_pane=True)]


async def test_a_dry_run_needs_no_consent() -> None:
    world = await lively()
    assert (await ask(world, "kill", "1", "--dry-run")).status == 0
    assert world.door.done == []
