from pathlib import Path

from termvisor.model.maintenance import DescriptionsReloadResult
from termvisor.ops.api.services import LocalServices
from termvisor.settings import Paths
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command


def _build_services(tmp_path: Path, text: str) -> FakeServices:
    (tmp_path / "config.toml").write_text(text)
    return FakeServices(Paths(str(tmp_path), "/d", "/r"))


async def test_applied_settings_and_those_needing_a_restart_are_reported(tmp_path: Path) -> None:
    services = _build_services(tmp_path, "full_interval = 30\ntmux_program = '/bin/tmux'\nsegment_bytes = 65536\n")
    result = await run_command(services, "config", "reload")
    assert result.out.splitlines() == [
        "Applied: full_interval.",
        "tmux_program has changed; run `visor daemon restart` to apply it.",
        "segment_bytes has changed; run `visor down && visor up` to apply it.",
    ]
    assert services.configuration[1].full_interval == 30
    again = (await run_command(services, "robot", "config", "reload")).envelope["data"]
    assert (again["applied"], again["needs_restart"]) == ([], ["tmux_program", "segment_bytes"])


async def test_a_reload_without_changes_is_reported(tmp_path: Path) -> None:
    assert (await run_command(_build_services(tmp_path, ""), "config", "reload")).out == "Nothing has changed.\n"


async def test_reloaded_descriptions_of_agents_are_reported(tmp_path: Path) -> None:
    services = _build_services(tmp_path, "")
    services.maintenance.reloaded_descriptions = DescriptionsReloadResult(
        changed=("ours", "theirs"), troubles=("x.toml:1: bad",)
    )
    result = await run_command(services, "config", "reload")
    assert (result.status, result.out.splitlines()) == (
        78,
        ["Descriptions of agents reloaded: ours, theirs.", "left out: x.toml:1: bad"],
    )


async def test_an_invalid_config_is_an_error(tmp_path: Path) -> None:
    result = await run_command(_build_services(tmp_path, "full_interval = 0\n"), "config", "reload")
    assert (result.status, "full_interval" in result.err) == (78, True)


async def test_without_a_daemon_a_reload_is_unavailable(tmp_path: Path) -> None:
    result = await run_command(LocalServices(Paths(str(tmp_path), "/d", "/r")), "config", "reload")
    assert (result.status, result.err.splitlines()[0]) == (69, "visor: no daemon is running")
