// What a subject is told to do, drawn. The usual cue is an arrow on the spot where the eyes rest: the same shape for every
// class, turned, so that neither gaze nor brightness tells the classes apart. The figures are the texts' own, on request.
export const [CUE, NOW] = ["#8ab4f8", "#7ee787"];
const TURNS = { left_hand: 180, right_hand: 0, feet: 90, left_flexion: 225, right_flexion: 315, left_fist: 180, right_fist: 0 };
const FIGURES = { left_hand: [hand, -1], right_hand: [hand, 1], feet: [feet, 1], left_flexion: [arm, -1], right_flexion: [arm, 1], left_fist: [fist, -1], right_fist: [fist, 1] };

export const LIMBS = Object.keys(TURNS);

// Draws around (0, 0). `look`: { cue: "arrow" or "figure" }.
export function drawCue(pen, limb, size, colour, look) {
  pen.save();
  pen.lineCap = pen.lineJoin = "round";
  pen.strokeStyle = pen.fillStyle = colour;
  const [figure, side] = FIGURES[limb] ?? [];
  if (look?.cue === "figure" && figure) figure(pen, size * 2, side, 0);
  else if (limb in TURNS) arrow(pen, size, TURNS[limb]);
  pen.strokeStyle = "#fff";
  cross(pen, size * 0.24); // the eyes stay in the middle
  pen.restore();
}

function arrow(pen, size, degrees) {
  pen.save();
  pen.rotate((degrees * Math.PI) / 180);
  const [half, wide, shaft] = [size / 2, size * 0.32, size * 0.16];
  pen.beginPath();
  pen.moveTo(half, 0); pen.lineTo(half - wide, -wide); pen.lineTo(half - wide, -shaft); pen.lineTo(-half, -shaft);
  pen.lineTo(-half, shaft); pen.lineTo(half - wide, shaft); pen.lineTo(half - wide, wide);
  pen.closePath();
  pen.fill();
  pen.restore();
}

export function cross(pen, size) {
  pen.lineWidth = size * 0.1;
  pen.beginPath();
  pen.moveTo(-size / 2, 0); pen.lineTo(size / 2, 0); pen.moveTo(0, -size / 2); pen.lineTo(0, size / 2);
  pen.stroke();
}

export function lid(pen, size) { // a closed eye with lashes
  pen.lineWidth = size * 0.05;
  pen.beginPath(); pen.arc(0, -size * 0.45, size * 0.75, Math.PI * 0.24, Math.PI * 0.76); pen.stroke();
  for (const angle of [0.3, 0.4, 0.5, 0.6, 0.7]) {
    const [c, s] = [Math.cos(Math.PI * angle), Math.sin(Math.PI * angle)];
    pen.beginPath(); pen.moveTo(c * size * 0.75, s * size * 0.75 - size * 0.45); pen.lineTo(c * size * 0.92, s * size * 0.92 - size * 0.45); pen.stroke();
  }
}

// The back of a hand: a palm and round fingers that draw in as it closes.
function hand(pen, size, side, bend) {
  pen.save();
  pen.scale(side, 1);
  pen.beginPath(); pen.roundRect(-size * 0.27, -size * 0.08, size * 0.54, size * 0.52, size * 0.16); pen.fill();
  pen.lineWidth = size * 0.115;
  [0.3, 0.4, 0.43, 0.36].forEach((length, k) => {
    const x = size * (0.205 - k * 0.137);
    pen.beginPath(); pen.moveTo(x, 0); pen.lineTo(x, -size * length * (1 - 0.75 * bend)); pen.stroke();
  });
  pen.beginPath(); pen.moveTo(-size * 0.2, size * 0.24); pen.lineTo(-size * (0.43 - 0.2 * bend), size * (0.02 + 0.1 * bend)); pen.stroke();
  pen.restore();
}

function fist(pen, size, side, bend) { hand(pen, size, side, 0.35 + 0.65 * bend); }

// Shoulder, elbow, hand: the forearm comes up.
function arm(pen, size, side, bend) {
  const angle = 0.2 - bend * 1.75;
  const [x, y] = [size * 0.55 * Math.cos(angle), size * 0.28 + size * 0.55 * Math.sin(angle)];
  pen.save();
  pen.scale(side, 1);
  pen.translate(-size * 0.2, 0);
  pen.lineWidth = size * 0.17;
  pen.beginPath(); pen.moveTo(0, -size * 0.42); pen.lineTo(0, size * 0.28); pen.stroke();
  pen.lineWidth = size * 0.13;
  pen.beginPath(); pen.moveTo(0, size * 0.28); pen.lineTo(x, y); pen.stroke();
  pen.beginPath(); pen.arc(x, y, size * 0.12, 0, 7); pen.fill();
  pen.beginPath(); pen.arc(0, -size * 0.42, size * 0.14, 0, 7); pen.fill();
  pen.restore();
}

// Two soles whose toes come up.
function feet(pen, size, _, bend) {
  for (const side of [-1, 1]) {
    pen.save();
    pen.scale(side, 1);
    pen.translate(size * 0.25, size * 0.05);
    pen.rotate(0.14 - bend * 0.14);
    pen.beginPath(); pen.ellipse(0, size * 0.28, size * 0.11, size * 0.15, 0, 0, 7); pen.fill();
    pen.beginPath(); pen.ellipse(size * 0.01, -size * 0.08, size * 0.16, size * 0.22, 0.1, 0, 7); pen.fill();
    pen.beginPath(); pen.roundRect(-size * 0.08, -size * 0.05, size * 0.16, size * 0.34, size * 0.08); pen.fill();
    [0.07, 0.055, 0.05, 0.045, 0.04].forEach((r, k) => {
      pen.beginPath(); pen.arc(size * (-0.13 + k * 0.085), -size * (0.37 - 0.007 * k * k + 0.07 * bend), size * r, 0, 7); pen.fill();
    });
    pen.restore();
  }
}
