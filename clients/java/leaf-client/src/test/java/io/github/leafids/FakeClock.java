package io.github.leafids;

/** A wall clock that a test moves; the monotonic clock is that of the host. */
final class FakeClock implements LeafClock {
  private volatile long offset;
  private volatile long fixed = -1;

  static FakeClock fixedAt(long millis) {
    FakeClock clock = new FakeClock();
    clock.fixed = millis;
    return clock;
  }

  @Override
  public long wallMillis() {
    return fixed >= 0 ? fixed : System.currentTimeMillis() + offset;
  }

  @Override
  public long monotonicNanos() {
    return System.nanoTime();
  }

  synchronized void step(long millis) {
    if (fixed >= 0) fixed += millis;
    else offset += millis;
  }
}
