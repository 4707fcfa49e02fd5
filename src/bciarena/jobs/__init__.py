"""Many runs: a persistent queue and its workers, on one machine or on many."""
