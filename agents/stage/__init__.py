"""What the agents of every stage share: the outermost loop, batches in flight, queues by key, leases."""
