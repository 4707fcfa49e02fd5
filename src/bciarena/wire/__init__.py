"""How the referee and an entry's process talk. Python 3.8 syntax, standard library and numpy only."""
