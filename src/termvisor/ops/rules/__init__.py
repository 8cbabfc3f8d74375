"""Operations on detection rules and rule packs; start with `_rule_packs`."""
