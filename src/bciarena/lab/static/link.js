// The page's line to the hub: messages both ways, and the hub's clock.
const FIRST = 10; // pings
const DRIFT_MS = 0.05; // how much less is known of a clock half a second later: 50 millionths of the time, both ways

export class Link {
  constructor(role) {
    this.handlers = {};
    this.offsetS = null; // hub clock less page clock
    this.best = Infinity;
    this.role = role;
    this.open();
  }

  open() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.socket = new WebSocket(`${scheme}://${location.host}/ws/${this.role}`);
    this.socket.onopen = () => { this.best = Infinity; this.pings = 0; this.ping(); this.handlers.open?.(); };
    this.socket.onmessage = (event) => {
      const message = JSON.parse(event.data);
      if (message.type === "pong") this.pong(message);
      else this.handlers[message.type]?.(message);
    };
    this.socket.onclose = () => { this.handlers.closed?.(); setTimeout(() => this.open(), 1000); };
  }

  on(type, handler) { this.handlers[type] = handler; return this; }

  // Now, or when the line is open.
  when(action) { if (this.socket.readyState === WebSocket.OPEN) action(); else this.socket.addEventListener("open", action); }

  send(message) { if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message)); }

  ping() {
    this.send({ type: "ping", page_ms: performance.now() });
    this.pings += 1; // the first ones quickly: a page that is still loading answers late, and one of them is good
    setTimeout(() => this.socket.readyState === WebSocket.OPEN && this.ping(), this.pings < FIRST ? 50 : 500);
  }

  pong({ page_ms, hub_s }) {
    const now = performance.now();
    const trip = now - page_ms;
    this.best += DRIFT_MS; // an old good measure fades, so that drift is followed
    if (trip > this.best) return;
    this.best = trip; // the quickest round trip knows the clock best
    this.offsetS = hub_s - (page_ms + trip / 2) / 1000;
  }

  // How far off the hub's clock may be, at most: half of the round trip.
  get unsureMs() { return this.best / 2; }

  hubTime(pageMs) { return this.offsetS === null ? null : pageMs / 1000 + this.offsetS; }
}
