// For pages of any stimulus software: <script src="http://127.0.0.1:8011/bridge.js"></script>, then arena.code(12) where
// what is shown changes. A classic script, so that it can be loaded from a file's page, too.
(() => {
  const address = new URL(document.currentScript.src);
  let [socket, offsetS, best, period] = [null, null, Infinity, 1000 / 60];
  const waiting = []; // codes from before the clocks were compared: their frame's time is known, only not the bridge's
  const ready = new Promise((done) => { open(done); });

  function open(done) {
    socket = new WebSocket(`${address.protocol === "https:" ? "wss" : "ws"}://${address.host}/ws/bridge`);
    socket.onopen = () => { best = Infinity; ping(); };
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      if (message.type === "pong") { pong(message); waiting.splice(0).forEach(send); done?.(); }
    };
    socket.onclose = () => { offsetS = null; setTimeout(() => open(done), 1000); };
  }

  function ping() {
    if (socket.readyState !== WebSocket.OPEN) return;
    socket.send(JSON.stringify({ type: "ping", page_ms: performance.now() }));
    setTimeout(ping, 500);
  }

  function pong({ page_ms, hub_s }) {
    const trip = performance.now() - page_ms;
    best += 0.05; // an old good measure fades, so that drift is followed: 50 millionths of the time, both ways
    if (trip > best) return;
    best = trip; // the quickest round trip knows the clock best
    offsetS = hub_s - (page_ms + trip / 2) / 1000;
  }

  // The refresh period, from the shortest of some frames: frames are lost, but never gained.
  const stamps = [];
  requestAnimationFrame(function see(stamp) {
    stamps.push(stamp);
    if (stamps.length < 30) return requestAnimationFrame(see);
    const gaps = stamps.slice(1).map((at, k) => at - stamps[k]).sort((a, b) => a - b);
    period = gaps[Math.floor(gaps.length / 4)];
  });

  // A page that was blocked is called with the time of a frame that is past: what it changed is in the present one.
  const shown = (stamp, now) => stamp + Math.max(0, Math.floor((now - stamp) / period)) * period;

  function send({ code, stamp, waited }) {
    if (offsetS === null) waiting.push({ code, stamp, waited });
    else socket.send(JSON.stringify({ type: "code", code, hub_s: stamp / 1000 + offsetS, waited_ms: waited }));
  }

  window.arena = {
    ready, // a promise: the bridge is there and the clocks were compared
    // Marks what the next frame shows, or the frame that is being drawn: within a requestAnimationFrame callback give its
    // time as well. Gives a promise of the frame's time.
    code: (code, frame) => new Promise((done) => {
      const asked = performance.now();
      const mark = (told) => {
        const stamp = shown(told, performance.now());
        send({ code, stamp, waited: Math.max(stamp, performance.now()) - asked });
        done(stamp);
      };
      if (frame === undefined) requestAnimationFrame(mark);
      else mark(frame);
    }),
  };
})();
