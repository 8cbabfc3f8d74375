"""Prompts in the last line of the cockpit: a line of text, or a choice by one key. Escape always leaves."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from termvisor.frontends.tui.styled_text import StyledPart, strip_controls

SubmitText = Callable[[str], Awaitable[None] | None]


class LinePrompt(Struct, kw_only=True):
    """``on_change`` is called with the text after each key, ``complete`` returns a longer text for Tab."""

    label: str
    on_submit: SubmitText
    on_change: Callable[[str], None] = lambda _text: None
    on_cancel: Callable[[], None] = lambda: None
    complete: Callable[[str], str] = lambda text: text
    text: str = ""

    def render_parts(self) -> list[StyledPart]:
        return [(f" {self.label} ", "waiting_approval"), (self.text, ""), ("▏", "bold"), ("  Esc cancels", "dim")]

    def edit_text(self, key: str, character: str | None) -> bool:
        """Apply a key; return False if it does not edit."""
        if key in ("backspace", "ctrl+h"):
            self.text = self.text[:-1]
        elif key == "ctrl+u":
            self.text = ""
        elif key == "ctrl+w":
            self.text = self.text.rstrip().rpartition(" ")[0]
        elif key == "tab":
            self.text = self.complete(self.text)
        elif character is not None and (added := strip_controls(character)):
            self.text += added
        else:
            return False
        return True


class ChoicePrompt(Struct, kw_only=True):
    """``choices`` are the meaning and the reaction of each key; any other key but Escape is ignored."""

    label: str
    choices: dict[str, tuple[str, Callable[[], Awaitable[None] | None]]]

    def render_parts(self) -> list[StyledPart]:
        keys = [part for key, (meaning, _) in self.choices.items() for part in _render_choice(key, meaning)]
        # The keys come first: a long question is cut at the end of the line.
        return [(" ", ""), *keys, ("Esc cancels", "dim"), (f"  {self.label}", "waiting_approval")]


def _render_choice(key: str, meaning: str) -> list[StyledPart]:
    return [(key, "bold"), (f" {meaning}  ", "")]


Prompt = LinePrompt | ChoicePrompt


def complete_word(text: str, words: list[str]) -> str:
    """Return the text extended as far as all words that start with it agree."""
    matching = [word for word in words if word.startswith(text)]
    if not matching:
        return text
    shortest = min(matching, key=len)
    length = next(
        (index for index in range(len(shortest)) if len({word[index] for word in matching}) > 1), len(shortest)
    )
    return shortest[:length] + (" " if len(matching) == 1 else "")
