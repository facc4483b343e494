/** Reads the clock in a busy loop on its own core. Gaps are time that the machine gave to other work. */
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
