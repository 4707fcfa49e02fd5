"""Many runs: a queue that forgets nothing, on one machine or on many."""
