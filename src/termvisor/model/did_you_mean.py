"""Suggest known words for an unknown word."""

from collections.abc import Iterable


def find_close_matches(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> list[str]:
    """Return up to three known words, best first: words that start with ``word``, then similar ones."""
    from difflib import get_close_matches  # imported here because only errors need it

    by_lower = {name.lower(): name for name in known}
    lower = word.lower()
    starts = [name for name in by_lower if len(word.lstrip("-")) > 1 and name.startswith(lower)]
    matches = dict.fromkeys(starts + get_close_matches(lower, by_lower, n=3, cutoff=cutoff))
    return [by_lower[name] for name in matches][:3]


def format_suggestion(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return a hint: the best match, or all known words."""
    names = tuple(known)
    matches = find_close_matches(word, names, cutoff=cutoff)
    return f"did you mean {matches[0]}?" if matches else f"expected one of: {', '.join(names)}"
