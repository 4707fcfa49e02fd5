"""What runs beside an entry's code: the client and the dialects. Python 3.8 syntax, standard library and numpy.

A *client* has two methods: ``next()`` returns a packet (an object with data, subject, block, start, total_start,
finished) or None after the last one, and ``report(value)``; and a dict ``info`` (see Match.info). In the referee's
own process the match itself is the client.
"""
