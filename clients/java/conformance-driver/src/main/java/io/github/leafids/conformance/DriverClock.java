package io.github.leafids.conformance;

import io.github.leafids.LeafClock;

/** A wall clock that can be moved and stopped; the monotonic clock continues. */
final class DriverClock implements LeafClock {
  private volatile long offset;
  /** Whether a read needs the lock: the clock stands still, or reads are counted. */
  private volatile boolean special;
  private long frozenAt;
  private long frozenUntil;
  private boolean frozen;
  private long readsLeft;
  private long stepMs;

  @Override
  public long wallMillis() {
    return special ? specialMillis() : System.currentTimeMillis() + offset;
  }

  @Override
  public long monotonicNanos() {
    return System.nanoTime();
  }

  synchronized void step(long ms) {
    offset += ms;
  }

  synchronized void freeze(long ms) {
    frozenAt = System.currentTimeMillis() + offset;
    frozenUntil = System.nanoTime() + ms * 1_000_000;
    frozen = special = true;
  }

  /** Moves the clock by {@code ms} after so many reads; 0 reads end this. */
  synchronized void stepAfter(long reads, long ms) {
    readsLeft = reads;
    stepMs = ms;
    special = frozen || reads > 0;
  }

  private synchronized long specialMillis() {
    if (frozen && System.nanoTime() - frozenUntil >= 0) frozen = false;
    long now = frozen ? frozenAt : System.currentTimeMillis() + offset;
    if (readsLeft > 0 && --readsLeft == 0) offset += stepMs;
    special = frozen || readsLeft > 0;
    return now;
  }
}
