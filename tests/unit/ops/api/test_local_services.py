import pytest

from termvisor.errors import Unavailable
from termvisor.ops.api.catalog import load_all_operations
from termvisor.ops.api.local_services import LocalServices
from termvisor.settings import Paths, Settings
from termvisor.testing.operation_calls import run_command

PLACES = Paths("/none/c", "/none/d", "/none/r")


def test_places_and_settings_are_known_without_a_daemon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.environ", {})
    assert LocalServices(PLACES).configuration == (PLACES, Settings())


async def test_everything_else_needs_one() -> None:
    world = LocalServices(PLACES)
    for name in ("panes", "history", "updates"):
        with pytest.raises(Unavailable, match="no daemon is running"):
            getattr(world, name)
    with pytest.raises(Unavailable):
        await world.maintenance.get_health()


async def test_a_read_without_a_daemon_says_what_to_do() -> None:
    answered = await run_command(LocalServices(PLACES), "panes")
    assert (answered.status, answered.err) == (69, "visor: no daemon is running\nhint: `visor up` starts it.\n")


def test_local_ops_are_those_that_need_no_daemon() -> None:
    assert {op.name for op in load_all_operations() if op.effect == "local"} == {
        "config_init",
        "config_path",
        "config_set",
        "config_show",
        "config_unset",
        "config_validate",
        "policy_test",
        "db_restore",
        "help",
        "logs",
        "quick_start",
        "rules_lint",
        "rules_list",
        "rules_new",
        "rules_show",
        "rules_test",
        "setup_agents",
        "setup_shell",
        "version",
    }
    assert {op.name for op in load_all_operations() if op.works_without_daemon} == {
        "tmux_status",
        "doctor",
        "setup_tmux",
        "config_reload",
        "completion",
    }
