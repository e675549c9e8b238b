"""The questions that models are asked: prompts, schemas of replies, transcripts."""
