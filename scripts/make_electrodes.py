"""Write where electrodes lie, from MNE's 10-05 montage: on a sphere for the simulator, on a head for BIDS.

src/bciarena/simulator/electrodes.json and src/bciarena/recording/positions.json. Run by hand when a montage changes;
neither simulator nor recordings need MNE.
"""

import json
from pathlib import Path

import mne
import numpy as np
from mne.io.constants import FIFF

from bciarena.recording.montages import CAP64, CAP77, FIVE, NOT_SCALP

MONTAGE = "colin27_1005" if "colin27_1005" in mne.channels.get_builtin_montages() else "standard_1005"
SOURCES = Path(__file__).parent.parent / "src/bciarena"
TARGET = SOURCES / "simulator/electrodes.json"
ON_HEAD = SOURCES / "recording/positions.json"


def main() -> None:
    montage = mne.channels.make_standard_montage(MONTAGE)
    places = montage.get_positions()["ch_pos"]
    info = mne.create_info(list(places), 250, "eeg").set_montage(montage)
    _, origin, _ = mne.bem.fit_sphere_to_headshape(info, dig_kinds="eeg", units="m", verbose="error")
    where = {item["ch_name"]: item["loc"][:3] - origin for item in info["chs"]}
    names = {"Fz" if name == "FZ" else name for name in CAP64 if name not in NOT_SCALP}
    names |= {*CAP77, *FIVE, "CPz", "AFz", "Iz"}
    table = {name: np.round(where[name] / np.linalg.norm(where[name]), 4).tolist() for name in sorted(names)}
    write(TARGET, table)
    # In head coordinates: x to the right ear, y to the nose, z up, from the middle between the ears; metres.
    marks = {"NAS": FIFF.FIFFV_POINT_NASION, "LPA": FIFF.FIFFV_POINT_LPA, "RPA": FIFF.FIFFV_POINT_RPA}
    found = {point["ident"]: point["r"] for point in info["dig"] if point["kind"] == FIFF.FIFFV_POINT_CARDINAL}
    head = {item["ch_name"]: item["loc"][:3] for item in info["chs"]} | {n: found[kind] for n, kind in marks.items()}
    write(ON_HEAD, {name: np.round(place.astype(float), 4).tolist() for name, place in sorted(head.items())})


def write(path: Path, table: dict) -> None:
    rows = ",\n".join(f'  "{name}": {json.dumps(place)}' for name, place in table.items())
    path.write_text("{\n" + rows + "\n}\n")


if __name__ == "__main__":
    main()
