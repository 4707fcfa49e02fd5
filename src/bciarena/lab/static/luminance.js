// What a flickering area shows, as a pure function of time. bciarena/lab/luminance.py holds the same formula.
export const BACKGROUND = 0.5;

export function luminance(timeS, hz, phaseRad, [low, high]) {
  return low + ((high - low) * (1 + Math.sin(2 * Math.PI * hz * timeS + phaseRad))) / 2;
}

export const level = (grey) => Math.floor(grey * 255 + 0.5);

const SLOW = "this screen refreshes at {hz} Hz and can show up to {limit} Hz, not {beyond} Hz";

export function refusal(refreshHz, frequenciesHz, text = SLOW) {
  const limit = refreshHz / 2.2;
  const beyond = frequenciesHz.filter((hz) => hz > limit).sort((a, b) => a - b);
  if (!beyond.length) return null;
  return text.replace("{hz}", refreshHz.toFixed(1)).replace("{limit}", limit.toFixed(1)).replace("{beyond}", beyond.at(-1));
}
