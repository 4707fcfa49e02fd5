"""Write src/bciarena/simulator/electrodes.json: where each electrode lies on a sphere, from MNE's 10-05 montage.

Run by hand when a montage changes; the simulator itself needs no MNE.
"""

import json
from pathlib import Path

import mne
import numpy as np

from bciarena.recording.montages import CAP64, CAP77, FIVE, NOT_SCALP

MONTAGE = "colin27_1005" if "colin27_1005" in mne.channels.get_builtin_montages() else "standard_1005"
TARGET = Path(__file__).parent.parent / "src/bciarena/simulator/electrodes.json"


def main() -> None:
    montage = mne.channels.make_standard_montage(MONTAGE)
    places = montage.get_positions()["ch_pos"]
    info = mne.create_info(list(places), 250, "eeg").set_montage(montage)
    _, origin, _ = mne.bem.fit_sphere_to_headshape(info, dig_kinds="eeg", units="m", verbose="error")
    where = {item["ch_name"]: item["loc"][:3] - origin for item in info["chs"]}
    names = {"Fz" if name == "FZ" else name for name in CAP64 if name not in NOT_SCALP}
    names |= {*CAP77, *FIVE, "CPz", "AFz", "Iz"}
    table = {name: np.round(where[name] / np.linalg.norm(where[name]), 4).tolist() for name in sorted(names)}
    rows = ",\n".join(f'  "{name}": {json.dumps(place)}' for name, place in table.items())
    TARGET.write_text("{\n" + rows + "\n}\n")


if __name__ == "__main__":
    main()
