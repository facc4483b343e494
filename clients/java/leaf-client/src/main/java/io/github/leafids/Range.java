package io.github.leafids;

import java.util.concurrent.atomic.AtomicLong;

/** The IDs from {@code from} to {@code to}, both included, taken in this order by any number of threads. */
final class Range {
  final long from;
  final long to;
  final long size;
  /** Up to this offset, an ID needs no further check. */
  volatile long mark;
  /** Offset of the next ID; above {@code size} after failed attempts. */
  private final AtomicLong taken = new AtomicLong();

  Range(long from, long to) {
    this.from = from;
    this.to = to;
    this.size = to - from + 1;
  }

  /** @return the offset of the first of {@code count} IDs; those from {@code size} on do not exist */
  long take(long count) {
    return count == 1 ? taken.getAndIncrement() : taken.getAndAdd(count);
  }

  long left() {
    return Math.max(0, size - taken.get());
  }

  /** Takes what is left. */
  void drop() {
    take(size);
  }
}
