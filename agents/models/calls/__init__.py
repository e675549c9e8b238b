"""Calls to a model of any provider: limits, circuit breaker, repair of replies, cost bounds."""
