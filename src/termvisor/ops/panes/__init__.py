"""Operations that list, read, wait for, start, close and reserve panes."""
