"""The box's measures by themselves: ``python benchmarks/bench_box.py``, the same as ``arena bench box``."""

from bciarena.bench.box import main

if __name__ == "__main__":
    for row in main():
        print("  ".join(f"{key} {value:.4g}" if isinstance(value, float) else str(value) for key, value in row.items()))
