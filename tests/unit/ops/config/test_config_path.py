from termvisor.ops.api.local_services import LocalWorld
from termvisor.settings import Places
from termvisor.testing.asking import ask

WORLD = LocalWorld(Places("/c", "/d", "/r"))


async def test_all_places_are_told() -> None:
    data = (await ask(WORLD, "robot", "config", "path")).envelope["data"]
    assert (data["config_file"], data["database"], data["daemon_socket"]) == (
        "/c/config.toml",
        "/d/visor.db",
        "/r/daemon",
    )
    assert (await ask(WORLD, "config", "path", "-q")).out == "/c/config.toml\n"
    assert "data_dir       /d" in (await ask(WORLD, "config", "path")).out
