import os

from termvisor.detection.packs.crash_test import save_crashing_rules
from termvisor.diagnostics.checks.check import CheckContext
from termvisor.diagnostics.checks.config import ConfigCheck


async def test_an_absent_config_is_fine(context: CheckContext) -> None:
    assert (await ConfigCheck().run(context)).status == "ok"


async def test_a_wrong_setting_fails_and_is_named(context: CheckContext) -> None:
    os.makedirs(context.paths.config_dir)
    with open(context.paths.config_file, "w") as file:
        file.write("thin_interval = -1\n")
    finding = await ConfigCheck().run(context)
    assert finding.status == "fail"
    assert "thin_interval" in finding.message
    assert "visor config validate" in finding.hint


async def test_a_redaction_pattern_that_crashes_hyperscan_is_a_warning(context: CheckContext) -> None:
    os.makedirs(context.paths.config_dir)
    os.makedirs(context.paths.cache_dir, exist_ok=True)
    with open(context.paths.config_file, "w") as file:
        file.write("redact_patterns = ['ACME-[0-9]+']\n")
    save_crashing_rules(context.paths.cache_dir, {"ACME-[0-9]+": "cannot be used: it is too much"})
    finding = await ConfigCheck().run(context)
    assert (finding.status, "ACME" in finding.message) == ("warn", True)
    assert "still redacted" in finding.hint
