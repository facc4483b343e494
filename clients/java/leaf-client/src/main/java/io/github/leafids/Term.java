package io.github.leafids;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * The time in which one worker ID is held, from the first answer under a lease. Issues each timestamp and sequence number
 * at most once, ascending, from any number of threads without a lock: after Twitter's Snowflake (2010).
 *
 * <p>One number is the state: the newest timestamp, its last sequence number, and whether that millisecond follows one
 * that was used up. {@link #end} replaces it, so that no call that is between its check and its update gets an ID of a
 * worker ID that is lost.
 */
final class Term {
  /** Why there is no ID; the values of {@link #tryNext} below 0. */
  static final int ENDED = -1;
  static final int BEHIND = -2;
  static final int ABSORBING = -3;
  static final int EXHAUSTED = -4;
  static final int EPOCH = -5;
  static final int FLOOR = -6;
  static final int CEILING = -7;
  /** A clock that was set back by up to this is absorbed. */
  private static final long MAX_BACKWARDS_MS = 5;
  /** Milliseconds that a saturated process missed are used later if they are not older than this. */
  private static final long CATCH_UP_MS = 8;
  /** A millisecond starts at a random number below this, so that the IDs of slow callers modulo n are even. */
  private static final int SEQUENCE_START = 1024;

  final int workerId;
  final long from;
  private final BitLayout layout;
  private final LeafClock clock;
  /** The newest timestamp of earlier terms, which a clock that was set back must not repeat. */
  private final long used;
  private final long floor;
  private final long initial;
  private final int shift;
  private final AtomicLong state;
  private final LongAdder issued = new LongAdder();
  private final Runnable renewal;
  /** Unix milliseconds of the newest answer: no ID has a later timestamp. */
  private volatile long until;
  /** Unix milliseconds after which the window should be extended. */
  private volatile long renewAfter = Long.MAX_VALUE;

  /**
   * @param used Unix milliseconds of the newest ID of earlier terms; -1 if there is none
   * @param renewal called once the clock has passed the time to extend
   */
  Term(Window window, LeafClock clock, long used, Runnable renewal) {
    workerId = window.workerId;
    from = window.from;
    layout = window.layout;
    this.clock = clock;
    this.used = used;
    this.renewal = renewal;
    floor = Math.min(layout.maxTimestamp, Math.max(Math.max(from - 1, used), layout.epoch));
    shift = layout.sequenceBits + 1;
    initial = pack(floor, layout.maxSequence, false);
    state = new AtomicLong(initial);
  }

  /** Applies the newest answer, also if its end is lower. */
  void extend(long newUntil, long newRenewAfter) {
    until = newUntil;
    renewAfter = newRenewAfter;
  }

  long until() {
    return until;
  }

  long issued() {
    return issued.sum();
  }

  /** The next ID, or a negative number without one. */
  long tryNext() {
    for (;;) {
      long before = state.get();
      if (before == ENDED) return ENDED;
      long now = clock.wallMillis();
      long timestamp = decide(before, now);
      if (timestamp < 0) return timestamp;
      long newest = timestampOf(before);
      int sequence = sequenceOf(before);
      long after;
      if (timestamp == newest) after = before + 2;
      else {
        boolean follows = sequence == layout.maxSequence && timestamp == newest + 1 && before != initial;
        int start = follows ? 0 : ThreadLocalRandom.current().nextInt(Math.min(SEQUENCE_START, layout.maxSequence + 1));
        after = pack(timestamp, start, follows);
      }
      if (!state.compareAndSet(before, after)) continue;
      issued.increment();
      return layout.compose(timestamp, workerId, sequenceOf(after));
    }
  }

  /** Why no ID can be issued now; 0 if one can be, at the latest within milliseconds. */
  int obstacle() {
    long before = state.get();
    long decision = before == ENDED ? ENDED : decide(before, clock.wallMillis());
    return decision >= 0 || decision == EXHAUSTED || decision == ABSORBING ? 0 : (int) decision;
  }

  /**
   * Ends the term: no ID follows.
   *
   * @return Unix milliseconds of the newest ID; -1 if none was issued
   */
  long end() {
    long last = state.getAndSet(ENDED);
    return last == ENDED || last == initial ? -1 : timestampOf(last);
  }

  LeafException refused(int obstacle) {
    long now = clock.wallMillis();
    long newest = Math.max(used, timestampOf(Math.max(0, state.get())));
    switch (obstacle) {
      case EXHAUSTED:
        return refusal("LEAF_OVERLOADED", 1, "Worker " + workerId + " has used all " + (layout.maxSequence + 1)
            + " IDs of this millisecond. Retry, or distribute the load over more processes.");
      case FLOOR:
        return refusal("LEAF_NOT_READY", Math.max(1, floor - now + 1), "The window of worker " + workerId
            + " begins at " + (floor + 1) + " (Unix ms).");
      case CEILING:
        return refusal("LEAF_LEASE_EXPIRED", 1000, "The window of worker " + workerId + " has ended at " + until
            + " (Unix ms), and no server has extended it. It resumes when one does.");
      case EPOCH:
        return new LeafException("LEAF_EPOCH_EXHAUSTED", "The clock reads " + now + " (Unix ms), outside of the layout "
            + layout + ". Correct the clock.");
      default:
        return refusal("LEAF_CLOCK_BACKWARDS", Math.max(1, newest - now), "The clock is " + (newest - now)
            + " ms behind the newest ID of worker " + workerId + ". It resumes when the clock has caught up.");
    }
  }

  /** The timestamp of the next ID, or why there is none. */
  private long decide(long before, long now) {
    long newest = timestampOf(before);
    boolean spare = sequenceOf(before) < layout.maxSequence;
    long behind = newest - now;
    long timestamp;
    if (now > renewAfter) {
      // Once: the next answer sets it again.
      renewAfter = Long.MAX_VALUE;
      renewal.run();
    }
    if (before == initial) {
      if (used - now > MAX_BACKWARDS_MS) return BEHIND;
      if (now <= floor && now >= layout.epoch) return FLOOR;
      timestamp = now;
    } else if (behind >= 0) {
      if (behind > MAX_BACKWARDS_MS) return BEHIND;
      if (!spare) return behind == 0 ? EXHAUSTED : ABSORBING;
      timestamp = newest;
    } else {
      boolean near = -behind <= CATCH_UP_MS;
      boolean saturated = (before & 1) != 0;
      timestamp = !near ? now : !spare ? newest + 1 : saturated ? newest : now;
    }
    if (now < layout.epoch || now > layout.maxTimestamp) return EPOCH;
    return Math.max(timestamp, now) > until ? CEILING : timestamp;
  }

  private long pack(long timestamp, int sequence, boolean follows) {
    return (timestamp - layout.epoch) << shift | (long) sequence << 1 | (follows ? 1 : 0);
  }

  private long timestampOf(long packed) {
    return (packed >>> shift) + layout.epoch;
  }

  private int sequenceOf(long packed) {
    return (int) (packed >>> 1) & layout.maxSequence;
  }

  private static LeafException refusal(String code, long retryAfterMs, String message) {
    return new LeafException(code, message, Duration.ofMillis(retryAfterMs), null);
  }
}
