-- Epochs whose text has to be derived again from the raw log. On Python 3.11.0 to 3.11.4 earlier versions missed escape
-- sequences (CPython gh-106052): where one stands in stored text, which no right version stores, all text is doubtful.
CREATE TABLE text_to_derive (epoch INTEGER PRIMARY KEY);
INSERT INTO text_to_derive SELECT id FROM epoch
    WHERE EXISTS (SELECT 1 FROM block WHERE source = 'stream' AND instr(text, char(27)));
