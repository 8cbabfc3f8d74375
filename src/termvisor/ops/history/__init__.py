"""Operations on stored output: search, export, replay, and the commands that shells ran."""
