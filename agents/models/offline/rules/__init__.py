"""The rules of the provider without a model: sentences, tables by language, limits, frames, wishes and importance."""
