"""Three-class motor imagery: left hand, right hand, feet."""
