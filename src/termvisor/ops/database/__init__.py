"""Operations on the database: status, integrity, maintenance, backup and restore."""
