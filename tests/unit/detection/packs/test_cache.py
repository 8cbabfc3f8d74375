import os
from pathlib import Path

import pytest

from termvisor.detection.packs import cache as kept
from termvisor.settings import Settings
from tests.unit.detection.packs.making import GOOD, pack


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    counted: list[object] = []
    real = kept.load

    def load(*given: object) -> object:
        counted.append(given)
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(kept, "load", load)
    return counted


def test_what_was_read_is_kept_until_a_file_or_a_setting_changes(tmp_path: Path, loads: list[object]) -> None:
    folder = pack(tmp_path, good=GOOD)
    first = kept.load_kept(str(tmp_path), Settings(), str(tmp_path))
    assert kept.load_kept(str(tmp_path), Settings(), str(tmp_path)) == first
    assert len(loads) == 1
    (folder / "org.local" / "good.toml").write_text(GOOD.replace("stops", "halts now"))
    changed = kept.load_kept(str(tmp_path), Settings(), str(tmp_path))
    assert changed.rule("tool.limit.reached").why == "The tool halts now."  # type: ignore[union-attr]
    assert kept.load_kept(str(tmp_path), Settings(patterns_disabled=("tool.*",)), str(tmp_path)).disabled
    assert len(loads) == 3


def test_what_is_kept_is_private_and_what_is_spoiled_is_read_anew(tmp_path: Path, loads: list[object]) -> None:
    kept.load_kept(str(tmp_path), Settings(), str(tmp_path))
    file = tmp_path / "packs.msgpack"
    assert oct(os.stat(file).st_mode & 0o777) == "0o600"
    file.write_bytes(file.read_bytes()[:100])
    kept.load_kept(str(tmp_path), Settings(), str(tmp_path))
    assert len(loads) == 2


def test_without_a_folder_to_keep_it_in_it_still_works(tmp_path: Path) -> None:
    assert kept.load_kept(str(tmp_path), Settings(), str(tmp_path / "absent")).rules
