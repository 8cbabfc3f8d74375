from termvisor.model.action.action import SetTitle
from termvisor.testing.asking import ask, lively


async def test_a_title_is_one_clean_line() -> None:
    world = await lively()
    await ask(world, "set-title", "1", "release", "build\x1b[2J")
    assert world.door.done[0][0] == SetTitle(pane=1, title="release build")
