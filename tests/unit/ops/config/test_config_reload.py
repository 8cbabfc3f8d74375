from pathlib import Path

from termvisor.ops.api.local_services import LocalServices
from termvisor.settings import Paths
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command


def _world(tmp_path: Path, text: str) -> FakeServices:
    (tmp_path / "config.toml").write_text(text)
    return FakeServices(Paths(str(tmp_path), "/d", "/r"))


async def test_what_was_taken_over_and_what_waits_for_a_restart_is_told(tmp_path: Path) -> None:
    world = _world(tmp_path, "full_interval = 30\ntmux_program = '/bin/tmux'\nsegment_bytes = 65536\n")
    answered = await run_command(world, "config", "reload")
    assert answered.out.splitlines() == [
        "Taken over: full_interval.",
        "tmux_program has changed too, but needs `visor daemon restart`.",
        "segment_bytes has changed too, but needs `visor down && visor up`.",
    ]
    assert world.configuration[1].full_interval == 30
    again = (await run_command(world, "robot", "config", "reload")).envelope["data"]
    assert (again["applied"], again["needs_restart"]) == ([], ["tmux_program", "segment_bytes"])


async def test_nothing_new_is_told_too(tmp_path: Path) -> None:
    assert (await run_command(_world(tmp_path, ""), "config", "reload")).out == "Nothing has changed.\n"


async def test_a_wrong_config_is_an_error(tmp_path: Path) -> None:
    answered = await run_command(_world(tmp_path, "full_interval = 0\n"), "config", "reload")
    assert (answered.status, "full_interval" in answered.err) == (78, True)


async def test_without_a_daemon_there_is_nobody_to_read_it(tmp_path: Path) -> None:
    answered = await run_command(LocalServices(Paths(str(tmp_path), "/d", "/r")), "config", "reload")
    assert (answered.status, answered.err.splitlines()[0]) == (69, "visor: no daemon is running")
