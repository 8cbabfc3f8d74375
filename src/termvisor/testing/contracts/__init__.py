"""Contract tests for extensions: subclass one, set your extension, and run it with pytest.

They require `pytest` and `hypothesis`, which Termvisor itself does not need.
"""

import pytest

# A failing contract test says what it compared, as the tests of a plug-in itself do.
pytest.register_assert_rewrite(f"{__name__}.agent_adapter", f"{__name__}.backend")
