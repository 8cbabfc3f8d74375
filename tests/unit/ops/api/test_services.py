import pytest

from termvisor.errors import Unavailable
from termvisor.ops.api.catalog import load_all_operations
from termvisor.ops.api.services import LocalServices
from termvisor.settings import Paths, Settings
from termvisor.testing.operation_calls import run_command

PATHS = Paths("/none/c", "/none/d", "/none/r")


def test_paths_and_settings_are_available_without_a_daemon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.environ", {})
    assert LocalServices(PATHS).configuration == (PATHS, Settings())


async def test_every_other_service_requires_a_daemon() -> None:
    services = LocalServices(PATHS)
    for name in ("panes", "history", "updates"):
        with pytest.raises(Unavailable, match="no daemon is running"):
            getattr(services, name)
    with pytest.raises(Unavailable):
        await services.maintenance.get_health()


async def test_a_read_without_a_daemon_has_a_hint() -> None:
    answered = await run_command(LocalServices(PATHS), "panes")
    assert (answered.status, answered.err) == (69, "visor: no daemon is running\nhint: Start it with `visor up`.\n")


def test_local_operations_need_no_daemon() -> None:
    assert {op.name for op in load_all_operations() if op.effect == "local"} == {
        "agents_test",
        "config_get",
        "config_edit",
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
        "workflow_new",
    }
    assert {op.name for op in load_all_operations() if op.works_without_daemon} == {
        "tmux_status",
        "doctor",
        "setup_tmux",
        "config_reload",
        "completion",
    }
