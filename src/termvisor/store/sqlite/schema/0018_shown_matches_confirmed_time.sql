-- The rule matches that the last screen sample of an epoch showed, so that the next daemon knows which are new.
ALTER TABLE epoch ADD COLUMN shown_matches BLOB NOT NULL DEFAULT x'';

-- The time that retention goes by: how late it certainly is, and the clocks when that was written. One row.
CREATE TABLE confirmed_time (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    at INTEGER NOT NULL,
    system_time INTEGER NOT NULL,
    boot TEXT NOT NULL,
    since_boot INTEGER NOT NULL,
    steady_for INTEGER NOT NULL,
    has_jumped INTEGER NOT NULL
);
