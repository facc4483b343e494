/** Turns on a core of its own and looks at the clock, nothing else: what it misses is taken away by the machine. */
const SECONDS = 3;
const SHORTEST_MS = 0.5;

const end = performance.now() + SECONDS * 1000;
let lostMs = 0;
let longestMs = 0;
for (let last = performance.now(); last < end;) {
  const now = performance.now();
  const gapMs = now - last;
  if (gapMs > SHORTEST_MS) lostMs += gapMs;
  if (gapMs > longestMs) longestMs = gapMs;
  last = now;
}
console.log(JSON.stringify({ share: lostMs / (SECONDS * 1000), longestMs }));
