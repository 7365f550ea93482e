-- The title of the file, and who set the time: request or clock. Documents from
-- before have neither, nor do their receipts.

ALTER TABLE documents ADD COLUMN title TEXT NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN time_from TEXT NOT NULL DEFAULT '';
