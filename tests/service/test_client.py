"""What a site answers cannot pass for a line of ours."""

from bciarena.service.client import _lines


def test_texts_of_an_answer_are_one_line_each_but_for_reasons():
    told = {"name": "x\narena: our fault", "rows": [{"title": "a\nb"}], "reason": "one\ntwo", "n": 3}
    assert _lines(told) == {"name": "x arena: our fault", "rows": [{"title": "a b"}], "reason": "one\ntwo", "n": 3}
