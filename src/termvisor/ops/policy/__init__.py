"""Operations on the policy: show, explain and validate it."""
