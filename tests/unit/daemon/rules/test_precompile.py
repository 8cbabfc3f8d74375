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
def where(tmp_path):
    """Folders that the environment does not name."""
    return Paths(f"{tmp_path}/c", f"{tmp_path}/d", f"{tmp_path}/r")


async def test_a_second_start_finds_what_the_first_compiled(where, tmp_path, monkeypatch):
    with make_short_folder() as runtime_dir:
        make_instance_folders(Paths(where.config_dir, where.data_dir, runtime_dir))
    rules = await precompile.load_redaction_rules(where, Settings())
    assert rules.is_compiled
    assert rules.scan("ghp_" + "a1B2" * 9)
    monkeypatch.setattr(precompile, "run_isolated_worker", lambda *_, **__: pytest.fail("compiled again"))
    assert (await precompile.load_redaction_rules(where, Settings())).is_compiled


async def test_without_the_other_process_the_rules_still_work(where, monkeypatch, caplog):
    async def fail(*_, **__) -> WorkerResult[str]:
        return WorkerResult(1, stderr="no memory")

    monkeypatch.setattr(precompile, "run_isolated_worker", fail)
    rules = await precompile.load_redaction_rules(where, Settings())
    assert rules.scan("ghp_" + "a1B2" * 9)
    assert "did not compile: no memory" in caplog.text


async def test_a_pattern_that_kills_hyperscan_is_looked_for_by_the_other_engine(where, caplog):
    install_pattern_cache(where)
    os.makedirs(where.config_dir)
    Path(where.config_file).write_text(f"redact_patterns = ['{CRASHES}', 'ACME-[0-9]+']\n", encoding="utf-8")
    settings = load_settings(where)
    rules = await precompile.load_redaction_rules(where, settings)
    assert not rules.is_compiled
    assert "Hyperscan crashes on it" in caplog.text
    assert rules.scan("my ACME-12 " + "aéax 1\n" * 3000) == {"custom_2"}
    assert list(load_crashing_rules(where.cache_dir)) == [CRASHES]
