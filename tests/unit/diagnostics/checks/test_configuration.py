import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from termvisor.detection.packs.crash_test import save_crashing_rules
from termvisor.diagnostics.checks.check import CheckContext
from termvisor.diagnostics.checks.configuration import (
    ConfigCheck,
    ExternalProgramsCheck,
    PluginsCheck,
    PolicyCheck,
    RulePacksCheck,
)
from tests.unit.detection.packs.rule_factory import VALID_RULE, write_pack


async def test_a_missing_config_is_ok(context: CheckContext) -> None:
    assert (await ConfigCheck().run(context)).status == "ok"


async def test_an_invalid_setting_fails_and_is_named(context: CheckContext) -> None:
    os.makedirs(context.paths.config_dir)
    with open(context.paths.config_file, "w") as file:
        file.write("thin_interval = -1\n")
    finding = await ConfigCheck().run(context)
    assert finding.status == "fail"
    assert "thin_interval" in finding.message
    assert "visor config edit" in finding.hint


async def test_a_policy_that_is_invalid_or_not_yours_alone_fails(context: CheckContext) -> None:
    assert (await PolicyCheck().run(context)).status == "ok"
    os.makedirs(context.paths.config_dir)
    with open(context.paths.policy_file, "w") as file:
        file.write("[approval]\ndefalt = 'ask'\n")
    invalid = await PolicyCheck().run(context)
    assert (invalid.status, "line 2" in invalid.message) == ("fail", True)
    assert "every action needs approval" in invalid.hint
    os.chmod(context.paths.policy_file, 0o666)
    shared = await PolicyCheck().run(context)
    assert (shared.status, "can be written by all users" in shared.message) == ("fail", True)
    assert "chmod go-w" in shared.hint


async def test_a_redaction_pattern_that_crashes_hyperscan_is_a_warning(context: CheckContext) -> None:
    os.makedirs(context.paths.config_dir)
    os.makedirs(context.paths.cache_dir, exist_ok=True)
    with open(context.paths.config_file, "w") as file:
        file.write("redact_patterns = ['ACME-[0-9]+']\n")
    save_crashing_rules(context.paths.cache_dir, {"ACME-[0-9]+": "cannot be used: it is too much"})
    finding = await ConfigCheck().run(context)
    assert (finding.status, "ACME" in finding.message) == ("warn", True)
    assert "still redacted" in finding.hint


async def test_invalid_rules_are_reported(context, tmp_path: Path) -> None:
    context.paths = replace(context.paths, config_dir=str(tmp_path), data_dir=str(tmp_path))
    assert (await RulePacksCheck().run(context)).status == "ok"
    write_pack(tmp_path, **{f"bad{number}": VALID_RULE.replace("line", "row") for number in range(5)})
    finding = await RulePacksCheck().run(context)
    assert finding.status == "warn"
    assert "bad0.toml:4: scope" in finding.message
    assert "and 2 more" in finding.message


TEXT = """\
[termvisor.agents]
odd = json:dumps

[termvisor.packs]
gone = no_such_module_at_all:rules

[termvisor.workflows]
fine = json:loads
gone = json:no_such_thing
"""


async def test_a_plugin_that_cannot_be_loaded_is_reported_with_its_reason(
    context, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await PluginsCheck().run(context)).status == "ok"
    (tmp_path / "toy-1.0.dist-info").mkdir()
    (tmp_path / "toy-1.0.dist-info" / "entry_points.txt").write_text(TEXT)
    monkeypatch.syspath_prepend(tmp_path)
    finding = await PluginsCheck().run(context)
    assert finding.status == "warn"
    assert [part.partition(":")[0] for part in finding.message.split("; ")] == [
        "agents odd",
        "packs gone",
        "workflows gone",
    ]
    assert "ModuleNotFoundError: No module named 'no_such_module_at_all'" in finding.message
    assert "restart the daemon" in finding.hint


async def test_installed_and_missing_programs_are_listed(context, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "cass").touch(mode=0o755)
    context.settings = replace(context.settings, account_tracker="caut")
    finding = await ExternalProgramsCheck().run(context)
    assert (finding.status, finding.hint) == ("ok", "")
    assert finding.message == (
        "installed: cass; not installed (optional): ast-grep (the workflow unstick), caut (`visor accounts refresh`)"
    )


async def test_a_tracker_that_is_not_configured_is_not_listed(context, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    context.settings = replace(context.settings, account_tracker="")
    assert "accounts" not in (await ExternalProgramsCheck().run(context)).message
