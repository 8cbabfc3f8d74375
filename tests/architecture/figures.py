"""Print figures about names and sizes of the source: `python -m tests.architecture.figures`. A report, not a check."""

import io
import tokenize
from collections import Counter
from statistics import median, quantiles

from tests.architecture.source import modules
from tests.architecture.test_names import VERBS, split_words
from tests.architecture.test_sizes import count_lines


def main() -> None:
    found = modules()
    functions = [function for module in found for function in module.functions() if not function.name.startswith("__")]
    verbs = sum(
        split_words(function.name)[:1] != [] and function.name.strip("_").split("_")[0] in VERBS
        for function in functions
    )
    classes = Counter(node.name for module in found for node in module.classes() if not node.name.startswith("_"))
    shared = sum(count for count in classes.values() if count > 1)
    lines = sum(module.lines for module in found)
    comments = sum(count_comment_lines(module.text) for module in found)
    written = [module.lines for module in found if module.lines > 5]
    lengths = [count_lines(function) for function in functions]
    print(f"source lines                        {lines:,} in {len(found)} modules")
    print(f"module median                       {median(written):g} lines")
    print(f"function median, p90                {median(lengths):g}, {quantiles(lengths, n=10)[-1]:g} lines")
    print(f"functions that start with a verb    {verbs / len(functions):.0%}")
    print(f"public classes that share a name    {shared / sum(classes.values()):.1%}")
    print(f"lines with a comment                {comments / lines:.1%}")


def count_comment_lines(text: str) -> int:
    """Count the lines that hold a comment, also behind code."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return len({token.start[0] for token in tokens if token.type == tokenize.COMMENT})


if __name__ == "__main__":
    main()
