"""Compiled patterns are cached, and a damaged cache file is compiled again."""

from pathlib import Path

from termvisor.regex import compile_patterns, is_cached

PATTERNS = {"key": "sk-[a-z]{4}", "word": "needle"}


def test_what_was_compiled_once_is_loaded(tmp_path):
    assert not is_cached(PATTERNS, str(tmp_path))
    first = compile_patterns(PATTERNS, "hyperscan", cache_folder=str(tmp_path))
    assert is_cached(PATTERNS, str(tmp_path))
    second = compile_patterns(PATTERNS, "hyperscan", cache_folder=str(tmp_path))
    assert first.find_ids(b"a needle") == second.find_ids(b"a needle") == {"word"}
    (file,) = tmp_path.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


def test_other_patterns_have_another_file(tmp_path):
    compile_patterns(PATTERNS, "hyperscan", cache_folder=str(tmp_path))
    assert not is_cached(PATTERNS | {"more": "x"}, str(tmp_path))


def test_a_damaged_cache_file_is_replaced(tmp_path):
    compile_patterns(PATTERNS, "hyperscan", cache_folder=str(tmp_path))
    (file,) = tmp_path.iterdir()
    file.write_bytes(b"not a database")
    assert compile_patterns(PATTERNS, "hyperscan", cache_folder=str(tmp_path)).find_ids(b"sk-abcd") == {"key"}
    assert len(file.read_bytes()) > 100


def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path):
    missing = str(Path(tmp_path, "no", "such", "folder"))
    assert compile_patterns(PATTERNS, "hyperscan", cache_folder=missing).find_ids(b"needle") == {"word"}
