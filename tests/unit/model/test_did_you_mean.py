import pytest

from termvisor.model.did_you_mean import find_close_matches, format_suggestion

KNOWN = ("unstick", "handle_compaction", "handle_session_end", "Enter")


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("unstik", ["unstick"]),
        ("handle", ["handle_compaction", "handle_session_end"]),
        ("enter", ["Enter"]),
        ("u", []),
        ("zebra", []),
    ],
)
def test_prefix_matches_come_before_similar_words(word, near):
    assert find_close_matches(word, KNOWN) == near


def test_cutoff_sets_the_required_similarity():
    assert find_close_matches("unxxick", KNOWN, cutoff=0.9) == []
    assert find_close_matches("unxxick", KNOWN, cutoff=0.5) == ["unstick"]


def test_the_hint_names_the_best_or_all():
    assert format_suggestion("unstik", KNOWN) == "did you mean unstick?"
    assert format_suggestion("zebra", ("a", "b")) == "expected one of: a, b"
