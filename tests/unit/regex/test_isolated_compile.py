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


def tried(**given) -> tuple[int, str, dict[str, str]]:
    end = CrashTest(timeout_s=100).run_trial(IsolatedCompileRequest(**given))
    return end.status, end.last, dict(end.refused)


def test_patterns_that_do_no_harm_are_kept_as_one(tmp_path):
    patterns = {"one": "limit (?P<left>\\d+)", "two": "^done$"}
    assert tried(patterns=patterns, texts={"one": ("limit 3",)}, keep_in=str(tmp_path)) == (0, "", {})
    assert is_cached(patterns, str(tmp_path))
    assert len(os.listdir(tmp_path)) == 1
    assert compile_patterns(patterns, "hyperscan", cache_folder=str(tmp_path)).find_ids(b"the limit 3") == {"one"}


def test_one_that_kills_the_engine_is_the_last_that_was_named(tmp_path):
    status, last, refused = tried(
        patterns={"good": "a+", "big": "(a.{100}|b.{300}|x.{500})x", "bad": CRASHES, "z": "z"}
    )
    assert (status, last) == (-signal.SIGSEGV, "bad")
    assert refused == {"big": "Pattern is too large."}
    assert tried(patterns={"bad": CRASHES}, keep_in=str(tmp_path))[0] == -signal.SIGSEGV
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".hsdb")]


def test_patterns_that_are_refused_together_are_not_kept(tmp_path):
    assert tried(patterns={"big": LARGE}, keep_in=str(tmp_path)) == (
        0,
        "",
        {"-": "Pattern is too large."},
    )
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("own", [(), ("", "limit 3")])
def test_the_texts_are_long_and_the_same_at_every_run(own):
    assert list(generate_texts(own, ["a+"])) == list(generate_texts(own, ["a+"]))
    assert {len(text) > 9000 for text in generate_texts(own, ["a+"])} == {True, False}


def test_what_was_compiled_for_rules_of_long_ago_is_removed(tmp_path):
    old, used = tmp_path / "old.hsdb", tmp_path / "used.hsdb"
    for path, days in ((old, 8), (used, 6)):
        path.write_bytes(b"")
        os.utime(path, (time.time() - days * 86_400,) * 2)
    (tmp_path / "packs.msgpack").write_bytes(b"")
    assert tried(patterns={"a": "abc"}, keep_in=str(tmp_path)) == (0, "", {})
    assert (old.exists(), used.exists(), len(list(tmp_path.glob("*.hsdb")))) == (False, True, 2)


def test_what_is_loaded_counts_as_used(tmp_path):
    assert tried(patterns={"a": "abc"}, keep_in=str(tmp_path)) == (0, "", {})
    (kept,) = tmp_path.glob("*.hsdb")
    os.utime(kept, (0, 0))
    assert HyperscanMatcher({"a": "abc"}, str(tmp_path)).find_ids(b"xabcx") == {"a"}
    assert kept.stat().st_mtime > 0
