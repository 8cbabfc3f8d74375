"""Operations on the audit log: list, follow, export and verify it, and undo an action."""
