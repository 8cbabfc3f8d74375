-- Old rows are met from the lowest id on, so a send has an id too. AUTOINCREMENT: it rises with the time.
CREATE TABLE numbered_send (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    correlation TEXT NOT NULL,
    pane INTEGER NOT NULL REFERENCES pane (id),
    action_hash TEXT NOT NULL,
    -- Of the text as it would be read from a screen, keyed: to know it again without keeping it.
    text_hash TEXT NOT NULL,
    step TEXT NOT NULL,
    begun_at INTEGER NOT NULL,
    step_at INTEGER NOT NULL,
    outcome TEXT,
    why TEXT NOT NULL DEFAULT ''
);
INSERT INTO numbered_send (key, correlation, pane, action_hash, text_hash, step, begun_at, step_at, outcome, why)
SELECT key, correlation, pane, action_hash, text_hash, step, begun_at, step_at, outcome, why FROM send ORDER BY begun_at;
DROP TABLE send;
ALTER TABLE numbered_send RENAME TO send;
CREATE INDEX send_open ON send (begun_at) WHERE outcome IS NULL;
CREATE INDEX send_correlation ON send (correlation);
-- Whether anything still refers to a pane or an epoch is asked for each that may be forgotten; without an index the whole
-- table would be read every time.
CREATE INDEX send_pane ON send (pane);
CREATE INDEX sighting_pane ON sighting (pane);
CREATE INDEX gap_after ON gap (after_epoch);
CREATE INDEX gap_before ON gap (before_epoch);

-- What people said leaves with the question they were asked.
CREATE TABLE leaving_voice (
    question INTEGER NOT NULL REFERENCES question (id) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    who TEXT NOT NULL,
    answer TEXT NOT NULL,
    PRIMARY KEY (question, who)
) WITHOUT ROWID;
INSERT INTO leaving_voice SELECT question, at, who, answer FROM voice;
DROP TABLE voice;
ALTER TABLE leaving_voice RENAME TO voice;
