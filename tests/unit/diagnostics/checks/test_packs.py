from pathlib import Path

from msgspec.structs import replace

from termvisor.diagnostics.checks.packs import PacksLoad
from tests.unit.detection.packs.making import GOOD, pack


async def test_what_is_not_in_force_is_told(sight, tmp_path: Path) -> None:
    sight.places = replace(sight.places, config_dir=str(tmp_path), data_dir=str(tmp_path))
    assert (await PacksLoad().look(sight)).status == "ok"
    pack(tmp_path, **{f"bad{number}": GOOD.replace("line", "row") for number in range(5)})
    finding = await PacksLoad().look(sight)
    assert finding.status == "warn"
    assert "bad0.toml:4: scope" in finding.message
    assert "and 2 more" in finding.message
