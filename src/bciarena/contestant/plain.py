"""Dialect D, the plain one: a class without framework imports.

It has one of:
- ``step(packet)``: called with every packet, returns an answer or None;
- ``run(packets)``: a generator that iterates over the packets and yields answers;
- ``predict(X)``: any scikit-learn-shaped estimator, played through windows (see contestant.windows);
- ``load_model(meta)``: a submission to a streamed competition (see contestant.streamed).
Optional: ``start(info)``, called once before the first packet with what is known of the challenge.
"""

from .streamed import play_streamed
from .windows import play_estimator


def packets(client):
    """The packets of a client until there are no more; the finish flag ends dialect D's loop by itself."""
    while True:
        packet = client.next()
        if packet is None:
            return
        yield packet
        if packet.finished and client.info["finish"] == "flag":
            return


def play_plain(entry, client):
    """Run an entry of dialect D to its end."""
    if hasattr(entry, "start"):
        entry.start(client.info)
    if hasattr(entry, "load_model"):
        play_streamed(entry, client, packets(client))
    elif hasattr(entry, "step"):
        for packet in packets(client):
            answer = entry.step(packet)
            if answer is not None:
                client.report(answer)
    elif hasattr(entry, "run"):
        for answer in entry.run(packets(client)):
            if answer is not None:
                client.report(answer)
    elif hasattr(entry, "predict"):
        play_estimator(entry, client, packets(client))
    else:
        raise TypeError(
            "%s has none of step(packet), run(packets), predict(X) or load_model(meta): nothing to play"
            % type(entry).__name__
        )
