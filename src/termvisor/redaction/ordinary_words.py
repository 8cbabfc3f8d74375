"""What ordinary words look like, so that they are not taken for secrets.

Words joined by ``- _ .`` are ordinary (`sk-learn-based-model`, `2024-05-01`); mixed letters and digits are not.
"""

import re

_WORD = r"(?:[A-Z]?[a-z]+[0-9]{0,2}|[0-9]{1,4})?"
_ANY_WORD = r"(?:(?:[A-Z]?[a-z]+|[A-Z]+|[A-Z]?[a-z]{2,}(?:[A-Z][a-z]{2,})+)[0-9]{0,2}|[0-9]{1,4})?"
_PLAIN_WORDS = re.compile(rf"{_WORD}(?:[-_.]{_WORD})*")
_ANY_WORDS = re.compile(rf"{_ANY_WORD}(?:[-_.]{_ANY_WORD})*")


def has_only_plain_words(text: str) -> bool:
    """Only lower-case or capitalised words, and short numbers."""
    return _PLAIN_WORDS.fullmatch(text) is not None


def has_only_words(text: str) -> bool:
    """Also SHOUTED and camelCased words: what the next line of a log may begin with."""
    return _ANY_WORDS.fullmatch(text) is not None
