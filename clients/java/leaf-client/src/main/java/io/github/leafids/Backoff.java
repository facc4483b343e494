package io.github.leafids;

import java.util.concurrent.ThreadLocalRandom;

/** Exponential back-off with equal jitter, so that clients that failed together do not retry together. */
final class Backoff {
  private Backoff() {}

  /**
   * @param attempt failures so far, from 1
   * @return random between half and all of the doubled wait, in milliseconds
   */
  static long millis(int attempt, long firstMs, long maxMs) {
    long half = Math.min(maxMs, firstMs << Math.min(attempt - 1, 20)) / 2;
    return half + ThreadLocalRandom.current().nextLong(half + 1);
  }
}
