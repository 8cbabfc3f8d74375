import os
from pathlib import Path

import pytest

from termvisor.detection.packs import cache
from termvisor.settings import Settings
from tests.unit.detection.packs.rule_factory import VALID_RULE, write_pack


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    counted: list[object] = []
    real = cache.load_packs

    def load(*given: object) -> object:
        counted.append(given)
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(cache, "load_packs", load)
    return counted


def test_the_cache_is_used_until_a_file_or_a_setting_changes(tmp_path: Path, loads: list[object]) -> None:
    folder = write_pack(tmp_path, good=VALID_RULE)
    first = cache.load_cached_packs(str(tmp_path), Settings(), str(tmp_path))
    assert cache.load_cached_packs(str(tmp_path), Settings(), str(tmp_path)) == first
    assert len(loads) == 1
    (folder / "org.local" / "good.toml").write_text(VALID_RULE.replace("stops", "halts now"))
    changed = cache.load_cached_packs(str(tmp_path), Settings(), str(tmp_path))
    assert changed.find_rule("tool.limit.reached").why == "The tool halts now."  # type: ignore[union-attr]
    assert cache.load_cached_packs(str(tmp_path), Settings(patterns_disabled=("tool.*",)), str(tmp_path)).disabled
    assert len(loads) == 3


def test_the_cache_is_private_and_a_damaged_one_is_rebuilt(tmp_path: Path, loads: list[object]) -> None:
    cache.load_cached_packs(str(tmp_path), Settings(), str(tmp_path))
    file = tmp_path / "packs.msgpack"
    assert oct(os.stat(file).st_mode & 0o777) == "0o600"
    file.write_bytes(file.read_bytes()[:100])
    cache.load_cached_packs(str(tmp_path), Settings(), str(tmp_path))
    assert len(loads) == 2


def test_packs_load_without_a_cache_folder(tmp_path: Path) -> None:
    assert cache.load_cached_packs(str(tmp_path), Settings(), str(tmp_path / "absent")).rules
