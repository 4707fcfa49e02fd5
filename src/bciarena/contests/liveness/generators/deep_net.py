"""The deep generator's net: a one-dimensional U-Net that removes noise. Import only where torch is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from bciarena.contests.liveness.generators.base import Array

LEVELS = 4
"""Each level but the last halves the time axis, so lengths must be multiples of 2 ** (LEVELS - 1)."""
LARGEST_NOISE, SMALLEST_NOISE = 20.0, 0.02


@contextmanager
def _one_thread() -> Iterator[None]:
    """Small nets are faster on one thread, and a fixed order of sums gives the same weights everywhere."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class _Block(nn.Module):
    """Two convolutions around a gain and a shift given by noise level and person."""

    def __init__(self, inner: int, outer: int, condition: int) -> None:
        super().__init__()
        self.first = nn.Conv1d(inner, outer, 5, padding=2)
        self.second = nn.Conv1d(outer, outer, 5, padding=2)
        self.bend = nn.Linear(condition, 2 * outer)
        self.skip = nn.Conv1d(inner, outer, 1) if inner != outer else nn.Identity()

    def forward(self, signal: Tensor, condition: Tensor) -> Tensor:
        gain, shift = self.bend(condition)[..., None].chunk(2, dim=1)
        inside = self.first(functional.silu(signal)) * (1 + gain) + shift
        made: Tensor = self.skip(signal) + self.second(functional.silu(inside))
        return made


class Denoiser(nn.Module):
    """Estimate the clean signal of unit power from a noisy one (preconditioning of Karras et al. 2022).

    Parameters
    ----------
    channels_n : int
        EEG channels.
    people_n : int
        Number of conditions (one per subject and run).
    width : int
        Feature maps of the first level.
    """

    def __init__(self, channels_n: int, people_n: int, width: int) -> None:
        super().__init__()
        condition = 2 * width
        widths = [width * (1 + level) for level in range(LEVELS)]
        self.person = nn.Embedding(people_n, condition)
        self.level = nn.Sequential(nn.Linear(16, condition), nn.SiLU(), nn.Linear(condition, condition))
        self.enter = nn.Conv1d(channels_n, width, 5, padding=2)
        self.down = nn.ModuleList(
            _Block(widths[max(0, level - 1)], widths[level], condition) for level in range(LEVELS)
        )
        self.up = nn.ModuleList(
            _Block(widths[level + 1] + widths[level], widths[level], condition) for level in range(LEVELS - 1)
        )
        self.leave = nn.Conv1d(width, channels_n, 5, padding=2)
        nn.init.zeros_(self.leave.weight)

    def forward(self, noisy: Tensor, noise: Tensor, person: Tensor) -> Tensor:
        """Return the estimate (batch, channels, n) for noise levels (batch,) and people (batch,)."""
        scale = torch.sqrt(1 + noise**2)[:, None, None]
        phase = torch.log(noise)[:, None] * torch.arange(1, 9) * 0.5
        condition = self.level(torch.cat([phase.cos(), phase.sin()], dim=1)) + self.person(person)
        signal = self.enter(noisy / scale)
        kept = []
        for index, block in enumerate(self.down):
            if index:
                signal = functional.avg_pool1d(signal, 2)
            signal = block(signal, condition)
            kept.append(signal)
        for index in reversed(range(LEVELS - 1)):
            wide = functional.interpolate(signal, scale_factor=2.0)
            signal = self.up[index](torch.cat([wide, kept[index]], dim=1), condition)
        made: Tensor = noisy / scale**2 + self.leave(signal) * noise[:, None, None] / scale
        return made


@_one_thread()
def train(
    windows: Callable[[np.random.Generator], tuple[Array, NDArray[np.int64]]],
    *,
    channels_n: int,
    people_n: int,
    width: int,
    steps: int,
    seed: int,
    advance: Callable[[], object],
) -> Denoiser:
    """Train on batches drawn by ``windows(rng)``: signals (batch, channels, n) and people (batch,)."""
    rng = np.random.default_rng(seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        net = Denoiser(channels_n, people_n, width)
    average = Denoiser(channels_n, people_n, width)
    average.load_state_dict(net.state_dict())
    optimiser = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 2e-3, total_steps=steps, pct_start=0.1)
    for step in range(steps):
        signals, people = windows(rng)
        clean = torch.as_tensor(signals, dtype=torch.float32)
        noise = torch.as_tensor(np.exp(rng.normal(-0.2, 1.3, len(clean))), dtype=torch.float32)
        noisy = clean + noise[:, None, None] * torch.as_tensor(rng.standard_normal(clean.shape)).float()
        missed = net(noisy, noise, torch.as_tensor(people)) - clean
        # Errors at all noise levels have equal weight, like the net's own output.
        loss = (missed**2 * ((1 + noise**2) / noise**2)[:, None, None]).mean()
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        with torch.no_grad():
            keep = min(0.995, (1 + step) / (10 + step))
            for slow, fast in zip(average.parameters(), net.parameters(), strict=True):
                slow.lerp_(fast, 1 - keep)
        advance()
    return average.eval()


@_one_thread()
@torch.no_grad()
def draw(net: Denoiser, start: Array, person: int, steps: int) -> Array:
    """Turn white noise (channels, n) into a signal by Heun's method in ``steps`` noise levels."""
    levels = np.append(np.geomspace(LARGEST_NOISE, SMALLEST_NOISE, steps), 0.0)
    who = torch.tensor([person])
    now = torch.as_tensor(start, dtype=torch.float32)[None] * LARGEST_NOISE
    for high, low in pairwise(levels):
        slope = (now - net(now, torch.tensor([high]).float(), who)) / high
        guess = now + (low - high) * slope
        if low > 0:
            second = (guess - net(guess, torch.tensor([low]).float(), who)) / low
            guess = now + (low - high) * (slope + second) / 2
        now = guess
    return np.asarray(now[0].numpy(), dtype=np.float64)
