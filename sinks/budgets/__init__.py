"""The ledger of budgets, and the records of what was consumed."""
