"""Live: LSL in and out, entries on a running stream, and a virtual subject who looks at the lab's page."""
