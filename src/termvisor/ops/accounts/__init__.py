"""Operations on agent accounts: list, select and refresh them."""
