package io.github.leafids;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TermTest {
  private static final long NOW = 1_795_335_429_032L;

  private final FakeClock clock = FakeClock.fixedAt(NOW);
  private final AtomicInteger renewals = new AtomicInteger();

  private Term term(long from, long until, long used) throws ServerFault {
    String lease = "5f0c6b9e2a7d4c1f8e3b0a9d6c5f4e21";
    Window window = Window.read(Json.parse("{\"workerId\":17,\"lease\":\"" + lease + "\",\"from\":" + from + ",\"until\":"
        + until + ",\"now\":" + NOW + ",\"layout\":" + TestServer.LAYOUT + "}"), lease);
    Term term = new Term(window, clock, used, renewals::incrementAndGet);
    term.extend(until, until - 100);
    return term;
  }

  private static SnowflakeId parts(long id) {
    return BitLayout.DEFAULT.decompose(id);
  }

  @Test
  void issuesFromTheFirstToTheLastTimestampOfTheWindow() throws ServerFault {
    Term term = term(NOW + 1, NOW + 200, -1);
    assertEquals(Term.FLOOR, term.tryNext());
    clock.step(1);
    assertEquals(NOW + 1, parts(term.tryNext()).timestamp());
    clock.step(199);
    SnowflakeId last = parts(term.tryNext());
    assertEquals(NOW + 200, last.timestamp());
    assertEquals(17, last.workerId());
    clock.step(1);
    assertEquals(Term.CEILING, term.tryNext());
    assertEquals("LEAF_LEASE_EXPIRED", term.refused(Term.CEILING).code());
    assertEquals(NOW + 200, term.end());
  }

  @Test
  void refusesAfterAnAnswerWithALowerEnd() throws ServerFault {
    Term term = term(NOW, NOW + 200, -1);
    assertTrue(term.tryNext() > 0);
    term.extend(NOW - 1, NOW);
    assertEquals(Term.CEILING, term.tryNext());
  }

  @Test
  void callsForAnExtensionOnce() throws ServerFault {
    Term term = term(NOW, NOW + 200, -1);
    term.tryNext();
    assertEquals(0, renewals.get());
    clock.step(101);
    term.tryNext();
    term.tryNext();
    assertEquals(1, renewals.get());
  }

  @Test
  void usesAllSequenceNumbersOfAMillisecondAndNoMore() throws ServerFault {
    Term term = term(NOW, NOW + 200, -1);
    int count = 0;
    for (long id = term.tryNext(); id >= 0; id = term.tryNext()) count++;
    assertEquals(Term.EXHAUSTED, term.tryNext());
    assertTrue(count > 4096 - 1024 && count <= 4096, "it starts below 1024: " + count);
    clock.step(1);
    SnowflakeId next = parts(term.tryNext());
    assertEquals(0, next.sequence(), "a millisecond after one that was used up starts at 0");
    assertEquals(NOW + 1, next.timestamp());
    assertEquals(count + 1, term.issued());
  }

  @Test
  void catchesUpWithMillisecondsThatItMissed() throws ServerFault {
    Term term = term(NOW, NOW + 200, -1);
    while (term.tryNext() >= 0) continue;
    clock.step(8);
    assertEquals(NOW + 1, parts(term.tryNext()).timestamp());
    clock.step(8);
    assertEquals(NOW + 16, parts(term.tryNext()).timestamp(), "not those that are older than 8 ms");
  }

  @Test
  void absorbsAStepBackOfFiveMillisecondsAndRefusesALargerOne() throws ServerFault {
    Term term = term(NOW - 100, NOW + 200, -1);
    long first = term.tryNext();
    clock.step(-5);
    assertEquals(first + 1, term.tryNext());
    while (term.tryNext() >= 0) continue;
    assertEquals(Term.ABSORBING, term.tryNext());
    clock.step(-1);
    assertEquals(Term.BEHIND, term.tryNext());
    assertEquals("LEAF_CLOCK_BACKWARDS", term.refused(Term.BEHIND).code());
    assertEquals(6, term.refused(Term.BEHIND).retryAfter().get().toMillis());
    clock.step(7);
    assertEquals(NOW + 1, parts(term.tryNext()).timestamp());
  }

  @Test
  void repeatsNoTimestampOfAnEarlierTerm() throws ServerFault {
    Term term = term(NOW - 1000, NOW + 200, NOW);
    assertEquals(Term.FLOOR, term.tryNext());
    clock.step(-6);
    assertEquals(Term.BEHIND, term.tryNext());
    clock.step(7);
    assertEquals(NOW + 1, parts(term.tryNext()).timestamp());
  }

  @Test
  void refusesATimeOutsideOfTheLayout() throws ServerFault {
    Term term = term(1, Long.MAX_VALUE >> 12, -1);
    clock.step(-NOW + 5);
    assertEquals(Term.EPOCH, term.tryNext());
    clock.step(BitLayout.DEFAULT.maxTimestamp);
    assertEquals(Term.EPOCH, term.tryNext());
  }

  @Test
  void isUniqueInEightThreads() throws Exception {
    Term term = term(NOW, NOW + 1_000_000, -1);
    long[] ids = Parallel.sorted(8, () -> {
      long[] own = new long[50_000];
      for (int i = 0; i < own.length; ) {
        long id = term.tryNext();
        if (id >= 0) own[i++] = id;
        else clock.step(1);
        assertTrue(i < 2 || own[i - 1] > own[i - 2], "each thread sees them ascend");
      }
      return own;
    });
    assertEquals(400_000, Parallel.distinct(ids));
    assertEquals(400_000, term.issued());
  }

  @Test
  void issuesNothingAboveTheTimestampWithWhichItEnded() throws Exception {
    Term term = term(NOW, NOW + 1_000_000, -1);
    AtomicLong last = new AtomicLong();
    AtomicInteger calls = new AtomicInteger();
    long[] ids = Parallel.sorted(8, () -> {
      long[] own = new long[100_000];
      int count = 0;
      for (long id = term.tryNext(); id != Term.ENDED; id = term.tryNext()) {
        if (id >= 0) own[count++] = id;
        else clock.step(1);
        if (calls.incrementAndGet() == 50_000) last.set(term.end());
      }
      return Arrays.copyOf(own, count);
    });
    assertNotEquals(0, ids.length);
    assertEquals(ids.length, Parallel.distinct(ids));
    assertEquals(last.get(), parts(ids[ids.length - 1]).timestamp());
  }
}
