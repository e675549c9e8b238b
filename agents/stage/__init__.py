"""Shared parts of all stages' agents: the outermost loop, concurrent batches, queues by key, leases."""
