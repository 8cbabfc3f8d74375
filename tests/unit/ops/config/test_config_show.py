from pathlib import Path

import pytest

from termvisor.ops.api.services import LocalServices
from termvisor.settings import Paths, list_settings
from termvisor.testing.operation_calls import run_command


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalServices:
    for row in list_settings():
        monkeypatch.delenv(row.env, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    return LocalServices(Paths(*(str(tmp_path) for _ in range(3))))


async def test_without_a_file_all_settings_are_at_their_default(services: LocalServices) -> None:
    assert "All settings are at their default" in (await run_command(services, "config", "show")).out


async def test_each_setting_has_its_origin(
    services: LocalServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.toml").write_text("thin_interval = 2.0\ncolour = 'never'\n")
    monkeypatch.setenv("VISOR_COLOUR", "always")
    found = (await run_command(services, "robot", "config", "show")).envelope["data"]["settings"]
    assert [(item["name"], item["value"], item["origin"]) for item in found] == [
        ("thin_interval", "2.0", "file"),
        ("colour", '"always"', "environment"),
    ]


async def test_effective_shows_everything(services: LocalServices) -> None:
    found = (await run_command(services, "robot", "config", "show", "--effective")).envelope["data"]["settings"]
    assert [item["name"] for item in found] == [row.name for row in list_settings()]
    assert {item["origin"] for item in found} == {"default"}
