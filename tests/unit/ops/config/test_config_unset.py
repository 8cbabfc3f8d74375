from pathlib import Path

from termvisor.ops.api.services import LocalServices
from termvisor.settings import Paths
from termvisor.testing.operation_calls import run_command


async def test_unset_restores_the_default_and_keeps_other_settings(tmp_path: Path) -> None:
    services = LocalServices(Paths(str(tmp_path), "/d", "/r"))
    (tmp_path / "config.toml").write_text("# mine\nlog_level = 'debug'\n\ncolour = 'never'\n")
    result = await run_command(services, "config", "unset", "log_level", "-q")
    assert result.out == "log_level is at its default\n"
    assert (tmp_path / "config.toml").read_text() == "# mine\n\ncolour = 'never'\n"
    assert (await run_command(services, "robot", "config", "unset", "log_level")).envelope["data"]["changed"] is False


async def test_unset_without_a_file_creates_none(tmp_path: Path) -> None:
    services = LocalServices(Paths(str(tmp_path / "c"), "/d", "/r"))
    assert (await run_command(services, "config", "unset", "colour")).out == "colour is at its default (unchanged)\n"
    assert not (tmp_path / "c").exists()
