"""The site's measures by themselves: ``python benchmarks/bench_site.py``, the same as ``arena bench site``."""

from typing import Any

from bciarena.bench.site import main


def show(row: dict[str, Any]) -> None:
    print("  ".join(f"{key} {value:.4g}" if isinstance(value, float) else str(value) for key, value in row.items()))


if __name__ == "__main__":
    main(on_row=show)
