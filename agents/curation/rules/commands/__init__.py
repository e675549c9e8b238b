"""Commands and wishes of people, applied to the ledger. Pure."""
