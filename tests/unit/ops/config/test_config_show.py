from pathlib import Path

import pytest

from termvisor.ops.api.local_services import LocalWorld
from termvisor.settings import Places, rows
from termvisor.testing.asking import ask


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalWorld:
    for row in rows():
        monkeypatch.delenv(row.env, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    return LocalWorld(Places(*(str(tmp_path) for _ in range(3))))


async def test_at_first_nothing_is_set(world: LocalWorld) -> None:
    assert "Every setting is at its default" in (await ask(world, "config", "show")).out


async def test_each_setting_says_where_it_comes_from(
    world: LocalWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.toml").write_text("thin_interval = 2.0\ncolour = 'never'\n")
    monkeypatch.setenv("VISOR_COLOUR", "always")
    found = (await ask(world, "robot", "config", "show")).envelope["data"]["settings"]
    assert [(item["name"], item["value"], item["origin"]) for item in found] == [
        ("thin_interval", "2.0", "file"),
        ("colour", '"always"', "environment"),
    ]


async def test_effective_shows_everything(world: LocalWorld) -> None:
    found = (await ask(world, "robot", "config", "show", "--effective")).envelope["data"]["settings"]
    assert [item["name"] for item in found] == [row.name for row in rows()]
    assert {item["origin"] for item in found} == {"default"}
