from termvisor.model.action.action import SetTitle
from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_a_title_is_one_clean_line() -> None:
    world = await build_sample_services()
    await run_command(world, "set-title", "1", "release", "build\x1b[2J")
    assert world.gate.executed[0][0] == SetTitle(pane=1, title="release build")
