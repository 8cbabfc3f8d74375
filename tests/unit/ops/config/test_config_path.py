from termvisor.ops.api.services import LocalServices
from termvisor.settings import Paths
from termvisor.testing.operation_calls import run_command

WORLD = LocalServices(Paths("/c", "/d", "/r"))


async def test_all_paths_are_listed() -> None:
    data = (await run_command(WORLD, "robot", "config", "path")).envelope["data"]
    assert (data["config_file"], data["database"], data["daemon_socket"]) == (
        "/c/config.toml",
        "/d/visor.db",
        "/r/daemon",
    )
    assert (await run_command(WORLD, "config", "path", "-q")).out == "/c/config.toml\n"
    assert "data_dir       /d" in (await run_command(WORLD, "config", "path")).out
