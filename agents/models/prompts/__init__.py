"""The questions to models: prompts, schemas of replies, transcripts."""
