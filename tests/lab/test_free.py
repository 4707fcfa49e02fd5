"""Free spelling: no cue, what was typed, undo, rates; and what the page finds out about its screen."""

from __future__ import annotations

from bciarena.protocol import Screening, screened
from tests.browser import until
from tests.lab.blocks import patient
from tests.lab.conftest import serving


def free(**options):
    return screened("speller", Screening(None, 1, 1, 0, {"free": True, **options}))


def test_nobody_but_the_subject_knows_what_is_spelt():
    block = free()
    assert block.events == ((0, 242), (block.events[1][0], 243))
    assert not block.of("cue")
    word = free(word="HI")
    assert [step.code for step in word.of("flicker")] == [8, 9]  # known where it was asked for, and not shown
    assert not word.of("cue")


def test_letters_undo_and_rates_on_the_page(page):
    with serving(patient(free(word="HI"))) as address:
        page.goto(f"{address}/stage")
        until(page, "window.lab?.player.timeline")
        seen = page.evaluate(
            """() => { const { stage, player } = window.lab, [free] = player.steps.filter((s) => s.kind === 'flicker');
              const { width, height } = stage.canvas;
              const pixels = () => [...stage.pen.getImageData(0, 80, width, height - 80).data].join();
              window.spoken = []; window.speechSynthesis.speak = (said) => window.spoken.push(said.text);
              stage.draw(free, 0, player); const blind = pixels();
              stage.draw({ ...free, params: { ...free.params, key: 20 } }, 0, player);
              const same = blind === pixels();
              stage.since = performance.now() - 60000;
              for (const value of [8, 9, 10, 40, 39]) player.answer({ value });
              return { same, typed: stage.typed, rate: stage.rate(), spoken: window.spoken }; }"""
        )
    assert seen["same"]  # whatever key the subject thinks of
    assert seen["typed"] == "HI."
    assert seen["spoken"] == ["HI"]
    # 5 keys in a minute, one of them taken back: P = 4/5, 40 keys
    assert seen["rate"].startswith("5 keys · 5.0/min")
    assert abs(float(seen["rate"].split(" · ")[2].split()[0]) - 17.7) < 1
    assert page.errors == []


def test_the_patch_touches_no_key_and_a_screen_is_measured(page):
    page.add_init_script(
        "let at = 1e7; window.requestAnimationFrame = (draw) => setTimeout(() => draw(at += 1000 / 59.94), 0);"
    )
    hub = patient(free())
    with serving(hub) as address:
        page.goto(f"{address}/stage?measure")
        until(page, "window.lab?.stage.note?.includes('Hz')")
        assert "59.940 Hz" in page.evaluate("window.lab.stage.note")
        until(page, "window.lab.player.refreshHz")
        assert abs(hub.refresh_hz - 59.94) < 0.001
        for size in ((1920, 1080), (1100, 900), (1280, 600), (800, 480)):
            page.set_viewport_size({"width": size[0], "height": size[1]})
            until(page, f"window.lab.stage.canvas.height === {size[1]}")
            free_corner = page.evaluate(
                """async () => { const { patchAt } = await import('/static/player.js'), { stage } = window.lab;
                  await new Promise((done) => setTimeout(done, 100));
                  const [x, y] = patchAt(stage.canvas);
                  return stage.keys.every((key) => key.x + key.side + 8 <= x || key.y + key.side + 8 <= y); }"""
            )
            assert free_corner, size
