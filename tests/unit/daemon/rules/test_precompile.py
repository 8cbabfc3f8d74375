"""Redaction patterns are compiled by another process, and only once."""

import os
from pathlib import Path

import pytest

from termvisor.daemon.rules import precompile
from termvisor.detection.packs.crash_test import load_crashing_rules
from termvisor.settings import Paths, Settings, load_settings, make_instance_folders
from termvisor.system.worker import WorkerResult
from termvisor.testing.private_tmux import make_short_folder
from tests.pattern_cache import install_pattern_cache
from tests.unit.regex.test_isolated_compile import CRASHES


@pytest.fixture
def paths(tmp_path):
    """Folders that differ from those in the environment."""
    return Paths(f"{tmp_path}/c", f"{tmp_path}/d", f"{tmp_path}/r")


async def test_a_second_start_uses_the_compiled_patterns(paths, tmp_path, monkeypatch):
    with make_short_folder() as runtime_dir:
        make_instance_folders(Paths(paths.config_dir, paths.data_dir, runtime_dir))
    rules = await precompile.load_redaction_rules(paths, Settings())
    assert rules.is_compiled
    assert rules.scan("ghp_" + "a1B2" * 9)
    monkeypatch.setattr(precompile, "run_isolated_worker", lambda *_, **__: pytest.fail("compiled again"))
    assert (await precompile.load_redaction_rules(paths, Settings())).is_compiled


async def test_rules_work_without_the_compiling_worker(paths, monkeypatch, caplog):
    async def fail(*_, **__) -> WorkerResult[str]:
        return WorkerResult(1, stderr="no memory")

    monkeypatch.setattr(precompile, "run_isolated_worker", fail)
    rules = await precompile.load_redaction_rules(paths, Settings())
    assert rules.scan("ghp_" + "a1B2" * 9)
    assert "did not compile: no memory" in caplog.text


async def test_a_pattern_that_crashes_hyperscan_uses_the_other_engine(paths, caplog):
    install_pattern_cache(paths)
    os.makedirs(paths.config_dir)
    Path(paths.config_file).write_text(f"redact_patterns = ['{CRASHES}', 'ACME-[0-9]+']\n", encoding="utf-8")
    settings = load_settings(paths)
    rules = await precompile.load_redaction_rules(paths, settings)
    assert not rules.is_compiled
    assert "Hyperscan crashes on it" in caplog.text
    assert rules.scan("my ACME-12 " + "aéax 1\n" * 3000) == {"custom_2"}
    assert list(load_crashing_rules(paths.cache_dir)) == [CRASHES]
