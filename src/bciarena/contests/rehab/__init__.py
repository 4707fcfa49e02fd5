"""Four-class upper-limb imagery for rehabilitation: flexion or fist, left or right."""
