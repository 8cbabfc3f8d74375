from pathlib import Path

from msgspec.structs import replace

from termvisor.diagnostics.checks.packs import RulePacksCheck
from tests.unit.detection.packs.rule_factory import VALID_RULE, write_pack


async def test_invalid_rules_are_reported(context, tmp_path: Path) -> None:
    context.paths = replace(context.paths, config_dir=str(tmp_path), data_dir=str(tmp_path))
    assert (await RulePacksCheck().run(context)).status == "ok"
    write_pack(tmp_path, **{f"bad{number}": VALID_RULE.replace("line", "row") for number in range(5)})
    finding = await RulePacksCheck().run(context)
    assert finding.status == "warn"
    assert "bad0.toml:4: scope" in finding.message
    assert "and 2 more" in finding.message
