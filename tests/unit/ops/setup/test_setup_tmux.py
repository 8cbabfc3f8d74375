from pathlib import Path

from termvisor.ops.api.services import LocalServices
from termvisor.settings import Paths
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.testing.operation_calls import run_command


async def test_without_a_daemon_the_advice_is_general(tmp_path: Path) -> None:
    services = LocalServices(Paths(*(str(tmp_path / name) for name in ("config", "data", "run"))))
    result = await run_command(services, "setup", "tmux")
    assert "No daemon is running" in result.out
    assert "\nset -g history-limit 50000\n" in result.out
    (item,) = (await run_command(services, "robot", "setup", "tmux")).envelope["data"]["items"]
    assert (item["is_followed"], item["now"]) == (None, "")


async def test_unmet_advice_is_shown_with_numbers() -> None:
    services = FakeServices()
    services.add_pane(build_shell_facts("%1", history_limit=2000))
    services.add_pane(build_shell_facts("%2", history_limit=50_000))
    result = await run_command(services, "setup", "tmux")
    assert "# Now: 1 of 2 panes keep fewer, the shortest 2,000.\nset -g history-limit 50000" in result.out


async def test_followed_advice_is_shown_as_ok() -> None:
    services = FakeServices()
    services.add_pane(build_shell_facts("%1"))
    (item,) = (await run_command(services, "robot", "setup", "tmux")).envelope["data"]["items"]
    assert (item["is_followed"], item["now"]) == (True, "all 1 pane keep as many")


async def test_a_session_that_ends_with_its_last_client_is_named() -> None:
    services = FakeServices()
    services.add_pane(build_shell_facts("%1", session="brief", session_ends_unattached=True))
    result = await run_command(services, "setup", "tmux")
    assert "# Now: on in brief.\nset -g destroy-unattached off" in result.out


async def test_quiet_output_is_valid_for_tmux_conf() -> None:
    assert (await run_command(FakeServices(), "setup", "tmux", "-q")).out == "set -g history-limit 50000\n"
