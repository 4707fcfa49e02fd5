"""A session: one subject through all blocks of a plan, shown, recorded, and decoded where the plan names entries."""
