"""What the replay draws: the electrodes where the response to an awaited light is largest."""

from bciarena.report.part import Part

REPORT = Part(columns=("accuracy", "mean_length_s"), channels=("Fz", "Cz", "Pz", "Oz"))
