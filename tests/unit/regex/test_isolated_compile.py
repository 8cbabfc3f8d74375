"""Compilation in a worker process: its output and its exit."""

import os
import signal
import time

import pytest

from termvisor.detection.packs.crash_test import CrashTest
from termvisor.regex import compile_patterns, is_cached
from termvisor.regex.hyperscan_engine import HyperscanMatcher
from termvisor.regex.isolated_compile import IsolatedCompileRequest, generate_texts

LARGE = "(a.{100}|b.{300}|x.{500})x"
CRASHES = "a(?:a*é{20,520}é{120})+x{252}"
"""Hyperscan 0.9.1 compiles it, and dies when it scans a long line."""


def compile_isolated(**fields) -> tuple[int, str, dict[str, str]]:
    end = CrashTest(timeout_s=100).run_trial(IsolatedCompileRequest(**fields))
    return end.status, end.last, dict(end.refused)


def test_patterns_that_compile_are_cached_as_one_database(tmp_path):
    patterns = {"one": "limit (?P<left>\\d+)", "two": "^done$"}
    assert compile_isolated(patterns=patterns, texts={"one": ("limit 3",)}, keep_in=str(tmp_path)) == (0, "", {})
    assert is_cached(patterns, str(tmp_path))
    assert len(os.listdir(tmp_path)) == 1
    assert compile_patterns(patterns, "hyperscan", cache_folder=str(tmp_path)).find_ids(b"the limit 3") == {"one"}


def test_a_pattern_that_crashes_the_engine_is_the_last_reported(tmp_path):
    status, last, refused = compile_isolated(
        patterns={"good": "a+", "big": "(a.{100}|b.{300}|x.{500})x", "bad": CRASHES, "z": "z"}
    )
    assert (status, last) == (-signal.SIGSEGV, "bad")
    assert refused == {"big": "Pattern is too large."}
    assert compile_isolated(patterns={"bad": CRASHES}, keep_in=str(tmp_path))[0] == -signal.SIGSEGV
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".hsdb")]


def test_patterns_that_are_refused_together_are_not_cached(tmp_path):
    assert compile_isolated(patterns={"big": LARGE}, keep_in=str(tmp_path)) == (
        0,
        "",
        {"-": "Pattern is too large."},
    )
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("own", [(), ("", "limit 3")])
def test_generated_texts_are_long_and_deterministic(own):
    assert list(generate_texts(own, ["a+"])) == list(generate_texts(own, ["a+"]))
    assert {len(text) > 9000 for text in generate_texts(own, ["a+"])} == {True, False}


def test_cached_databases_that_were_not_used_for_a_week_are_removed(tmp_path):
    old, used = tmp_path / "old.hsdb", tmp_path / "used.hsdb"
    for path, days in ((old, 8), (used, 6)):
        path.write_bytes(b"")
        os.utime(path, (time.time() - days * 86_400,) * 2)
    (tmp_path / "packs.msgpack").write_bytes(b"")
    assert compile_isolated(patterns={"a": "abc"}, keep_in=str(tmp_path)) == (0, "", {})
    assert (old.exists(), used.exists(), len(list(tmp_path.glob("*.hsdb")))) == (False, True, 2)


def test_loading_a_cached_database_updates_its_time(tmp_path):
    assert compile_isolated(patterns={"a": "abc"}, keep_in=str(tmp_path)) == (0, "", {})
    (kept,) = tmp_path.glob("*.hsdb")
    os.utime(kept, (0, 0))
    assert HyperscanMatcher({"a": "abc"}, str(tmp_path)).find_ids(b"xabcx") == {"a"}
    assert kept.stat().st_mtime > 0
