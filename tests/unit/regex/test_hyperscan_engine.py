"""Hyperscan: scratch space and callback."""

import gc
import threading

import pytest

from termvisor.regex.hyperscan_engine import HyperscanMatcher


def test_a_pattern_it_does_not_take_is_a_value_error():
    with pytest.raises(ValueError, match="Zero-width"):
        HyperscanMatcher({"a": "x(?=y)"})


def test_every_thread_has_its_own_scratch_and_the_callback_lives_on():
    matcher = HyperscanMatcher({"a": "foo", "b": "bar"})
    found: list[frozenset[str]] = []
    for text in (b"foo", b"bar", b"foo bar", b""):
        thread = threading.Thread(target=lambda text=text: found.append(matcher.find_ids(text)))
        thread.start()
        thread.join()
        gc.collect()
    assert found == [frozenset("a"), frozenset("b"), frozenset("ab"), frozenset()]


def test_one_answer_does_not_change_with_the_next_scan():
    matcher = HyperscanMatcher({"a": "foo"})
    first = matcher.find_ids(b"foo")
    assert matcher.find_ids(b"") == frozenset()
    assert first == frozenset("a")
