package io.github.leafids;

/** The source of time of a client. Replace it in tests. */
public interface LeafClock {
  /** Unix milliseconds of the wall clock, which operators and NTP can step in both directions. */
  long wallMillis();

  /** Nanoseconds since an arbitrary moment; never decreases. */
  long monotonicNanos();

  /** The clock of the host. */
  static LeafClock system() {
    return SystemClock.INSTANCE;
  }
}

enum SystemClock implements LeafClock {
  INSTANCE;

  @Override
  public long wallMillis() {
    return System.currentTimeMillis();
  }

  @Override
  public long monotonicNanos() {
    return System.nanoTime();
  }
}
