from pathlib import Path

from termvisor.ops.api.local_services import LocalServices
from termvisor.settings import Paths
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.testing.operation_calls import run_command


async def test_without_a_daemon_the_advice_is_general(tmp_path: Path) -> None:
    world = LocalServices(Paths(*(str(tmp_path / name) for name in ("config", "data", "run"))))
    answered = await run_command(world, "setup", "tmux")
    assert "No daemon runs" in answered.out
    assert "\nset -g history-limit 50000\n" in answered.out
    (item,) = (await run_command(world, "robot", "setup", "tmux")).envelope["data"]["items"]
    assert (item["is_followed"], item["now"]) == (None, "")


async def test_what_is_not_so_yet_is_said_with_numbers() -> None:
    world = FakeServices()
    world.add_pane(build_shell_facts("%1", history_limit=2000))
    world.add_pane(build_shell_facts("%2", history_limit=50_000))
    answered = await run_command(world, "setup", "tmux")
    assert "# Now: 1 of 2 panes keep fewer, the shortest 2,000.\nset -g history-limit 50000" in answered.out


async def test_what_is_so_already_is_said_too() -> None:
    world = FakeServices()
    world.add_pane(build_shell_facts("%1"))
    (item,) = (await run_command(world, "robot", "setup", "tmux")).envelope["data"]["items"]
    assert (item["is_followed"], item["now"]) == (True, "all 1 pane keep as many")


async def test_a_session_that_ends_with_its_last_client_is_named() -> None:
    world = FakeServices()
    world.add_pane(build_shell_facts("%1", session="brief", session_ends_unattached=True))
    answered = await run_command(world, "setup", "tmux")
    assert "# Now: on in brief.\nset -g destroy-unattached off" in answered.out


async def test_the_bare_lines_fit_into_a_configuration() -> None:
    assert (await run_command(FakeServices(), "setup", "tmux", "-q")).out == "set -g history-limit 50000\n"
