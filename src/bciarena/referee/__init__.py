"""The referee: a state machine from requests and reports to ledger lines, and from a ledger to a score."""

from bciarena.referee.answers import answer_text, plain_value
from bciarena.referee.desk import Desk
from bciarena.referee.judge import Truth, judge
from bciarena.referee.ledger import Ledger

__all__ = ["Desk", "Ledger", "Truth", "answer_text", "judge", "plain_value"]
