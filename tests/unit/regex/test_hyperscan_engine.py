"""Hyperscan: scratch space and callback."""

import gc
import threading
from pathlib import Path

import pytest

from termvisor.regex import compile_patterns, is_cached
from termvisor.regex.hyperscan_engine import HyperscanMatcher


def test_an_unsupported_pattern_is_a_value_error():
    with pytest.raises(ValueError, match="Zero-width"):
        HyperscanMatcher({"a": "x(?=y)"})


def test_every_thread_has_its_own_scratch_and_the_callback_is_kept():
    matcher = HyperscanMatcher({"a": "foo", "b": "bar"})
    found: list[frozenset[str]] = []
    for text in (b"foo", b"bar", b"foo bar", b""):
        thread = threading.Thread(target=lambda text=text: found.append(matcher.find_ids(text)))
        thread.start()
        thread.join()
        gc.collect()
    assert found == [frozenset("a"), frozenset("b"), frozenset("ab"), frozenset()]


def test_a_result_does_not_change_with_the_next_scan():
    matcher = HyperscanMatcher({"a": "foo"})
    first = matcher.find_ids(b"foo")
    assert matcher.find_ids(b"") == frozenset()
    assert first == frozenset("a")


PATTERNS = {"key": "sk-[a-z]{4}", "word": "needle"}


def test_compiled_patterns_are_loaded_from_the_cache(tmp_path):
    assert not is_cached(PATTERNS, str(tmp_path))
    first = compile_patterns(PATTERNS, "hyperscan", cache_folder=str(tmp_path))
    assert is_cached(PATTERNS, str(tmp_path))
    second = compile_patterns(PATTERNS, "hyperscan", cache_folder=str(tmp_path))
    assert first.find_ids(b"a needle") == second.find_ids(b"a needle") == {"word"}
    (file,) = tmp_path.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


def test_other_patterns_have_another_cache_file(tmp_path):
    compile_patterns(PATTERNS, "hyperscan", cache_folder=str(tmp_path))
    assert not is_cached(PATTERNS | {"more": "x"}, str(tmp_path))


def test_a_damaged_cache_file_is_replaced(tmp_path):
    compile_patterns(PATTERNS, "hyperscan", cache_folder=str(tmp_path))
    (file,) = tmp_path.iterdir()
    file.write_bytes(b"not a database")
    assert compile_patterns(PATTERNS, "hyperscan", cache_folder=str(tmp_path)).find_ids(b"sk-abcd") == {"key"}
    assert len(file.read_bytes()) > 100


def test_patterns_are_compiled_without_a_writable_cache_folder(tmp_path):
    missing = str(Path(tmp_path, "no", "such", "folder"))
    assert compile_patterns(PATTERNS, "hyperscan", cache_folder=missing).find_ids(b"needle") == {"word"}
