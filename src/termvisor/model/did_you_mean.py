"""What somebody may have meant who wrote a word that nobody knows. Pure."""

from collections.abc import Iterable


def find_close_matches(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> list[str]:
    """The known words that may have been meant, best first: those that begin so, then those that look alike."""
    from difflib import get_close_matches  # only a mistake needs it

    lower = {one.lower(): one for one in known}
    small = word.lower()
    starts = [one for one in lower if len(word.lstrip("-")) > 1 and one.startswith(small)]
    return [lower[one] for one in dict.fromkeys(starts + get_close_matches(small, lower, n=3, cutoff=cutoff))][:3]


def format_suggestion(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """The hint for it: the best of those, or all that there are."""
    names = tuple(known)
    near = find_close_matches(word, names, cutoff=cutoff)
    return f"did you mean {near[0]}?" if near else f"known are {', '.join(names)}"
