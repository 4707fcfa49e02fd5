"""What only a report about imagery says."""

from bciarena.report.part import Part

REPORT = Part(columns=("accuracy", "mean_length_s"))
