-- Older history of a chat, folded: what was said up to `summary_upto` is told by the summary from then on.
ALTER TABLE chats ADD COLUMN summary TEXT;
ALTER TABLE chats ADD COLUMN summary_upto TEXT;
-- The master's newest words from the folded part, word for word: JSON list of {at, text}, oldest first.
ALTER TABLE chats ADD COLUMN summary_verbatim TEXT;
-- low, med, high; NULL: chosen by what the chat is.
ALTER TABLE chats ADD COLUMN compact_profile TEXT;
-- The `summary_upto` for which a one-time line was shown already; '' stands for the time before any fold.
ALTER TABLE chats ADD COLUMN notes_nudged_upto TEXT;
ALTER TABLE chats ADD COLUMN wrap_nudged_upto TEXT;
