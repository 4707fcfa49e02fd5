import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bciarena.wire.page import Malformed, pack_value, unpack_value
from bciarena.wire.values import plain_value


@given(
    st.one_of(
        st.integers(),
        st.floats(),
        st.text(),
        st.booleans(),
        st.none(),
        st.binary(),
        st.lists(st.integers()),
        st.integers(-(2**31), 2**31 - 1).map(np.int32),
        st.floats(width=32).map(np.float32),
    )
)
def test_whatever_is_reported_arrives_as_the_plain_value(value):
    plain = plain_value(value)
    assert unpack_value(pack_value(plain)) == plain


@given(st.binary(max_size=1024))
def test_any_bytes_are_an_answer_or_malformed(raw):
    try:
        value = unpack_value(raw)
    except Malformed:
        return
    assert plain_value(value) == value or isinstance(value, dict)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"i",
        b"i" + bytes(9),
        b"i" + (2**53).to_bytes(8, "little"),
        b"f" + np.float64("nan").tobytes(),
        b"f" + np.float64("inf").tobytes(),
        b"s" + b"x" * 65,
        b"s\xff",
        b"z123",
        b"\x80\x04K\x01.",  # a pickle
    ],
)
def test_malformed(raw):
    with pytest.raises(Malformed):
        unpack_value(raw)
