"""Hook output for Cursor."""

import json

from termvisor.agents.adapters.cursor.keyboard import format_hook_answer


def test_the_hook_answer_allows_or_denies_with_a_reason():
    assert json.loads(format_hook_answer("allow", "fine")) == {"permission": "allow"}
    assert json.loads(format_hook_answer("deny", "No.")) == {
        "permission": "deny",
        "user_message": "No.",
        "agent_message": "No.",
    }
