"""Calls to a model, whoever runs it: limits, circuit breaker, repair of replies, the most a call can cost."""
