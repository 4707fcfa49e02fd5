"""What a report says about imagery alone."""

from bciarena.report.part import Part

REPORT = Part(columns=("accuracy", "mean_length_s"))
