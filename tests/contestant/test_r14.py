"""R14, the one ruling that lives in the box."""

from __future__ import annotations

import pytest

from bciarena.contestant.faces.asynchronous import AlgorithmContinuousDataObject, AlgorithmDataObject
from bciarena.contestant.faces.synchronous import DataModel

NAMES = {"finish_flag", "finishedFlag", "finished_flag", "end_flag", "Endflag"}


@pytest.mark.parametrize("kind", [DataModel, AlgorithmDataObject, AlgorithmContinuousDataObject])
@pytest.mark.parametrize("flag", [True, False])
def test_r14_every_name_of_the_finish_flag_is_there(kind, flag):
    """finish_flag 将被置为 True; finishedFlag 将被置为 1; finished_flag = true; end_flag =True; Endflag = 1."""
    made = kind(finish_flag=flag)
    assert {name: getattr(made, name) for name in NAMES} == dict.fromkeys(NAMES, flag)
