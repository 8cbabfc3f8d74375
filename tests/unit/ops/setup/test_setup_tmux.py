from pathlib import Path

from termvisor.ops.api.local_services import LocalWorld
from termvisor.settings import Places
from termvisor.testing.asking import ask
from termvisor.testing.world import MemoryWorld, shell


async def test_without_a_daemon_the_advice_is_general(tmp_path: Path) -> None:
    world = LocalWorld(Places(*(str(tmp_path / name) for name in ("config", "data", "run"))))
    answered = await ask(world, "setup", "tmux")
    assert "No daemon runs" in answered.out
    assert "\nset -g history-limit 50000\n" in answered.out
    (item,) = (await ask(world, "robot", "setup", "tmux")).envelope["data"]["items"]
    assert (item["is_followed"], item["now"]) == (None, "")


async def test_what_is_not_so_yet_is_said_with_numbers() -> None:
    world = MemoryWorld()
    world.pane(shell("%1", history_limit=2000))
    world.pane(shell("%2", history_limit=50_000))
    answered = await ask(world, "setup", "tmux")
    assert "# Now: 1 of 2 panes keep fewer, the shortest 2,000.\nset -g history-limit 50000" in answered.out


async def test_what_is_so_already_is_said_too() -> None:
    world = MemoryWorld()
    world.pane(shell("%1"))
    (item,) = (await ask(world, "robot", "setup", "tmux")).envelope["data"]["items"]
    assert (item["is_followed"], item["now"]) == (True, "all 1 pane keep as many")


async def test_a_session_that_ends_with_its_last_client_is_named() -> None:
    world = MemoryWorld()
    world.pane(shell("%1", session="brief", session_ends_unattached=True))
    answered = await ask(world, "setup", "tmux")
    assert "# Now: on in brief.\nset -g destroy-unattached off" in answered.out


async def test_the_bare_lines_fit_into_a_configuration() -> None:
    assert (await ask(MemoryWorld(), "setup", "tmux", "-q")).out == "set -g history-limit 50000\n"
