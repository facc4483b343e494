package io.github.leafids;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SegmentTest {
  private final TestServer server = new TestServer();
  private final List<LeafClient> clients = new ArrayList<>();

  SegmentTest() throws IOException {}

  @AfterEach
  void close() {
    clients.forEach(LeafClient::close);
    server.close();
  }

  private LeafClient open(LeafClient.Builder builder) {
    LeafClient client = builder.build();
    clients.add(client);
    return client;
  }

  private static String codeOf(org.junit.jupiter.api.function.Executable call) {
    return assertThrows(LeafException.class, call).code();
  }

  @Test
  void issuesTheIdsOfAnAnswerInOrder() {
    LeafClient ids = open(server.client());
    assertEquals(1, ids.next("order"));
    assertArrayEquals(LongStream.rangeClosed(2, 300).toArray(), ids.next("order", 299));
  }

  @Test
  void requestsTheNextRangeWhenATenthIsUsed() throws InterruptedException {
    LeafClient ids = open(server.client());
    for (int i = 0; i < 10; i++) ids.next("order");
    assertEquals(1, server.log.size());
    ids.next("order");
    assertEquals(100, server.awaited().size());
    assertEquals(100, server.awaited().size());
    ids.next("order", 100);
    assertEquals(200, server.awaited().size(), "twice as large, because the load before has lasted less than 10 s");
  }

  @Test
  void repeatsARequestWhoseAnswerWasLost() {
    server.rules.add(TestServer.Request::lose);
    server.rules.add(TestServer.Request::lose);
    LeafClient ids = open(server.client());
    assertEquals(1, ids.next("order"));
    assertTrue(server.log.size() >= 3);
    assertEquals(server.log.size(), server.log.stream().map(request -> request.query).distinct().count(), "nonces");
  }

  @Test
  void refusesAnAnswerThatRepeatsIds() {
    server.rules.add(request -> request.range(501, 600));
    server.rules.add(request -> request.range(600, 699));
    server.rules.add(request -> request.range(701, 800));
    LeafClient ids = open(server.client());
    long[] taken = ids.next("order", 100);
    assertEquals(600, taken[99]);
    assertEquals(701, ids.next("order"));
    assertEquals(1, ids.snapshot().servers().get(0).failures());
  }

  @Test
  void refusesAnAnswerToAnotherRequest() {
    server.rules.add(request -> {
      request.header("leaf-nonce", "another");
      request.sound();
    });
    assertEquals(101, open(server.client()).next("order"));
  }

  @Test
  void refusesInvalidAnswersAndAnswersOfProxies() {
    server.rules.add(request -> request.send(200, "application/json", "{\"tag\":\"other\",\"ranges\":[]}"));
    server.rules.add(request -> request.send(200, "application/json", "<html>"));
    server.rules.add(request -> request.range(0, 99));
    server.rules.add(request -> request.range(1, 99));
    server.rules.add(request -> request.send(302, "text/html", ""));
    LeafClient ids = open(server.client().ejection(1000, Duration.ofMillis(1), Duration.ofMillis(1)));
    assertEquals(1, ids.next("order"));
    assertEquals(5, ids.snapshot().servers().get(0).failures());
  }

  @Test
  void keepsARefusalForASecond() {
    server.always = request -> request.refuse(404, "LEAF_TAG_NOT_FOUND");
    LeafClient ids = open(server.client());
    for (int i = 0; i < 3; i++) assertEquals("LEAF_TAG_NOT_FOUND", codeOf(() -> ids.next("nosuch")));
    assertEquals(1, server.log.size());
    assertEquals("LEAF_TAG_INVALID", codeOf(() -> ids.next("a/b")));
    assertEquals("LEAF_SIZE_INVALID", codeOf(() -> ids.next("nosuch", 0)));
  }

  @Test
  void usesAnotherZoneOnlyInNeed() throws IOException {
    try (TestServer far = new TestServer()) {
      far.always = request -> request.range(9001, 9000 + request.size());
      LeafClient ids = open(LeafClient.builder().server(server.url(), "a").server(far.url(), "b").zone("a"));
      assertEquals(1, ids.next("order"));
      server.always = request -> {
        request.header("retry-after", "30");
        request.refuse(503, "LEAF_TAG_PAUSED");
      };
      assertEquals(9001, ids.next("order", 200)[99]);
      assertEquals("serving", ids.snapshot().servers().get(0).state(), "it rests for this tag alone");
    }
  }

  @Test
  void rejectsWithTheRefusalOfAllServersAtTheTimeLimit() {
    server.always = request -> request.refuse(503, "LEAF_SEGMENT_UNAVAILABLE");
    LeafClient ids = open(server.client().timeout(Duration.ofSeconds(2)));
    assertEquals("LEAF_SEGMENT_UNAVAILABLE", codeOf(() -> ids.next("order")));
    assertEquals(0, ids.snapshot().waiting());
  }

  @Test
  void rejectsWhenNoServerAnswersInTime() {
    server.close();
    LeafClient ids = open(server.client().timeout(Duration.ofSeconds(2))
        .ejection(1, Duration.ofSeconds(10), Duration.ofSeconds(10)));
    assertEquals("LEAF_SERVERS_UNAVAILABLE", codeOf(() -> ids.next("order")));
    server.always = null;
    assertEquals("ejected", ids.snapshot().servers().get(0).state());
  }

  @Test
  void limitsTheCallsThatWaitAndRefusesThemWhenItCloses() throws InterruptedException {
    CountDownLatch held = new CountDownLatch(1);
    server.always = request -> awaitQuietly(held);
    LeafClient ids = open(server.client().maxWaiting(1));
    CompletableFuture<Long> waiting = ids.nextAsync("order");
    server.awaited();
    assertEquals("LEAF_OVERLOADED", codeOf(() -> ids.next("other")));
    ids.close();
    CompletionException error = assertThrows(CompletionException.class, waiting::join);
    assertEquals("LEAF_NOT_READY", ((LeafException) error.getCause()).code());
    assertEquals("LEAF_NOT_READY", codeOf(() -> ids.next("order")));
    held.countDown();
  }

  @Test
  void issuesNoIdAfterItIsClosed() {
    LeafClient ids = open(server.client());
    ids.next("order");
    ids.close();
    assertEquals("LEAF_NOT_READY", codeOf(() -> ids.next("order")));
    assertEquals("LEAF_NOT_READY", codeOf(() -> ids.nextInPeriod("order")));
    assertEquals("LEAF_NOT_READY", codeOf(ids::snowflake));
  }

  @Test
  void isUniqueInEightThreads() throws Exception {
    LeafClient ids = open(server.client().segment(100, 5000, Duration.ofSeconds(1)));
    long[] taken = Parallel.sorted(8, () -> {
      long[] own = new long[50_000];
      for (int i = 0; i < own.length - 5; i++) own[i] = ids.next("order");
      System.arraycopy(ids.next("order", 5), 0, own, own.length - 5, 5);
      return own;
    });
    assertEquals(400_000, Parallel.distinct(taken));
    assertTrue(taken[taken.length - 1] <= 400_000 + 2 * 5000 + 200, "no gaps");
  }

  @Test
  void requestsIdsOfAStrictTagOnlyForCallsThatWait() throws InterruptedException {
    server.strict = true;
    LeafClient ids = open(server.client());
    assertEquals(101, ids.next("ledger"), "those of the prefetch are dropped");
    assertEquals(100, server.awaited().size());
    assertEquals(1, server.awaited().size());
    CountDownLatch held = new CountDownLatch(1);
    server.rules.add(request -> {
      awaitQuietly(held);
      request.sound();
    });
    CompletableFuture<long[]> first = ids.nextAsync("ledger", 2);
    assertEquals(2, server.awaited().size());
    CompletableFuture<long[]> second = ids.nextAsync("ledger", 3);
    CompletableFuture<long[]> third = ids.nextAsync("ledger", 4);
    assertEquals(3, server.log.size(), "one request at a time");
    held.countDown();
    assertArrayEquals(new long[] {102, 103}, first.join());
    assertArrayEquals(new long[] {104, 105, 106}, second.join());
    assertArrayEquals(new long[] {107, 108, 109, 110}, third.join());
    assertEquals(7, server.awaited().size());
  }

  @Test
  void refusesAnswersOfAStrictTagBelowTheHighest() {
    server.strict = true;
    LeafClient ids = open(server.client());
    ids.next("ledger");
    server.rules.add(request -> request.range(50, 50));
    server.rules.add(request -> request.range(101, 101));
    assertEquals(102, ids.next("ledger"));
  }

  @Test
  void ascendsInEightThreadsForAStrictTag() throws Exception {
    server.strict = true;
    LeafClient ids = open(server.client());
    long[] taken = Parallel.sorted(8, () -> {
      long[] own = new long[200];
      for (int i = 0; i < own.length; i++) {
        own[i] = ids.next("ledger");
        assertTrue(i == 0 || own[i] > own[i - 1]);
      }
      return own;
    });
    assertEquals(1600, Parallel.distinct(taken));
    assertEquals(1700, taken[1599], "no ID is left over");
  }

  @Test
  void takesNumbersOfPeriods() throws InterruptedException {
    server.rules.add(request -> request.range(7, 7));
    server.rules.add(request -> request.range(7, 7));
    server.rules.add(request -> request.range(8, 8));
    LeafClient ids = open(server.client().ejection(1000, Duration.ofMillis(1), Duration.ofMillis(1)));
    assertEquals(new PeriodNumber("2026-11", 7), ids.nextInPeriod("invoice"));
    assertEquals("LEAF_SERVERS_UNAVAILABLE", codeOf(() -> ids.nextInPeriod("invoice")), "a repeated number");
    server.requests.clear();
    assertEquals(8, ids.nextInPeriod("invoice", LocalDate.of(2026, 11, 27)).number());
    assertTrue(server.awaited().query.startsWith("size=1&at=2026-11-27T10:00:00Z&nonce="));
  }

  @Test
  void sendsTheTokenOfEachRequestAndTellsItsListener() throws InterruptedException {
    LinkedBlockingQueue<String> events = new LinkedBlockingQueue<>();
    LeafClient ids = open(server.client().token(() -> "secret-" + server.log.size()).preload("order")
        .listener(new LeafListener() {
          @Override
          public void onLoad(String tag, long count, long millis) {
            events.add(tag + " " + count);
            throw new IllegalStateException("ignored");
          }
        }));
    ids.ready();
    assertEquals("Bearer secret-0", server.log.get(0).header("authorization"));
    assertEquals("order 100", events.poll(10, TimeUnit.SECONDS));
    assertEquals(100, ids.snapshot().tags().get(0).buffered());
  }

  /** Refuses requests for more IDs than there are up to {@code last}. */
  private void exhaustAfter(long last) {
    AtomicLong newest = new AtomicLong();
    server.always = request -> {
      long from = newest.get() + 1;
      long to = newest.get() + request.size();
      if (to > last) request.refuse(503, "LEAF_TAG_EXHAUSTED");
      else {
        newest.set(to);
        request.range(from, to);
      }
    };
  }

  @Test
  void issuesTheLastIdsOfATag() {
    exhaustAfter(5);
    LeafClient ids = open(server.client());
    assertEquals(1, ids.next("few"));
    assertArrayEquals(new long[] {2, 3, 4}, ids.next("few", 3));
    assertEquals(5, ids.next("few"));
    assertEquals("LEAF_TAG_EXHAUSTED", codeOf(() -> ids.next("few")));
  }

  @Test
  void takesFewRequestsForTheLastIdsOfATagAndLeavesThemToSmallerCalls() {
    exhaustAfter(9000);
    LeafClient ids = open(server.client());
    assertEquals("LEAF_TAG_EXHAUSTED", codeOf(() -> ids.next("few", 10_000)));
    for (int i = 1; i <= 9000; i++) assertEquals(i, ids.next("few"));
    assertEquals("LEAF_TAG_EXHAUSTED", codeOf(() -> ids.next("few")));
    assertTrue(server.log.size() < 150, server.log.size() + " requests");
  }

  @Test
  void servesTheSmallCallsOfAStrictTagThatHasFewIdsLeft() throws InterruptedException {
    server.strict = true;
    exhaustAfter(110);
    LeafClient ids = open(server.client());
    assertEquals(101, ids.next("ledger"));
    CountDownLatch held = new CountDownLatch(1);
    server.rules.add(request -> {
      awaitQuietly(held);
      request.range(102, 102);
    });
    ids.nextAsync("ledger");
    while (server.log.size() < 3) TimeUnit.MILLISECONDS.sleep(1);
    CompletableFuture<long[]> many = ids.nextAsync("ledger", 50);
    CompletableFuture<long[]> few = ids.nextAsync("ledger", 2);
    held.countDown();
    assertEquals(2, few.join().length);
    CompletionException error = assertThrows(CompletionException.class, many::join);
    assertEquals("LEAF_TAG_EXHAUSTED", ((LeafException) error.getCause()).code());
  }

  @Test
  void asksAUsedUpStrictTagOnceASecondForAsManyIds() {
    server.strict = true;
    exhaustAfter(103);
    LeafClient ids = open(server.client());
    assertEquals(101, ids.next("ledger"));
    server.log.clear();
    for (int i = 0; i < 10; i++) assertEquals("LEAF_TAG_EXHAUSTED", codeOf(() -> ids.next("ledger", 5)));
    for (int i = 0; i < 10; i++) assertEquals("LEAF_TAG_EXHAUSTED", codeOf(() -> ids.next("ledger", 3)));
    assertArrayEquals(new long[] {102, 103}, ids.next("ledger", 2), "fewer are requested at once");
    for (int i = 0; i < 10; i++) assertEquals("LEAF_TAG_EXHAUSTED", codeOf(() -> ids.next("ledger", 3)));
    assertArrayEquals(new int[] {5, 3, 2}, server.log.stream().mapToInt(TestServer.Request::size).toArray());
    server.always = request -> request.range(104, 108);
    for (long[] later = {}; later.length == 0; ) {
      try {
        later = ids.next("ledger", 5);
      } catch (LeafException e) {
        assertEquals("LEAF_TAG_EXHAUSTED", e.code());
      }
    }
  }

  @Test
  void leavesBufferedIdsWhenACallCannotGetAll() {
    LeafClient ids = open(server.client().timeout(Duration.ofSeconds(2)));
    assertEquals(1, ids.next("order"));
    server.always = TestServer.Request::lose;
    assertEquals("LEAF_SERVERS_UNAVAILABLE", codeOf(() -> ids.next("order", 500)));
    for (int i = 2; i <= 100; i++) assertEquals(i, ids.next("order"));
  }

  @Test
  void takesNoIdsForAThreadThatWasInterrupted() throws InterruptedException {
    CountDownLatch held = new CountDownLatch(1);
    server.rules.add(request -> {
      awaitQuietly(held);
      request.sound();
    });
    LeafClient ids = open(server.client());
    Thread thread = new Thread(() -> {
      codeOf(() -> ids.next("order", 50));
      assertTrue(Thread.interrupted());
    });
    thread.start();
    server.awaited();
    thread.interrupt();
    thread.join();
    assertEquals(0, ids.snapshot().waiting());
    held.countDown();
    assertEquals(1, ids.next("order"));
  }

  @Test
  void sendsNoRequestForANumberThatNobodyWaitsFor() throws InterruptedException {
    CountDownLatch held = new CountDownLatch(1);
    server.rules.add(request -> {
      awaitQuietly(held);
      request.sound();
    });
    LeafClient ids = open(server.client().maxRequests(1).timeout(Duration.ofMillis(100)));
    ids.nextAsync("order");
    server.awaited();
    for (int i = 0; i < 3; i++) assertEquals("LEAF_SERVERS_UNAVAILABLE", codeOf(() -> ids.nextInPeriod("invoice")));
    held.countDown();
    // Those that wait for the only thread are executed in this order.
    while (server.log.stream().noneMatch(request -> request.path.endsWith("/last"))) {
      try {
        ids.nextInPeriod("last");
      } catch (LeafException e) {
        assertEquals("LEAF_SERVERS_UNAVAILABLE", e.code());
      }
    }
    assertEquals(0, server.log.stream().filter(request -> request.path.endsWith("/invoice")).count());
  }

  @Test
  void issuesTheLastIdOfAll() {
    server.rules.add(request -> request.range(Long.MAX_VALUE, Long.MAX_VALUE));
    assertEquals(Long.MAX_VALUE, open(server.client().segment(1, 1, Duration.ofSeconds(10))).next("order"));
  }

  @Test
  void isNotHarmedByErrorsOfItsListener() throws Exception {
    server.strict = true;
    LeafClient ids = open(server.client().listener(new LeafListener() {
      @Override
      public void onLoad(String tag, long count, long millis) {
        throw new AssertionError("ignored");
      }
    }));
    long[] taken = Parallel.sorted(8, () -> {
      long[] own = new long[200];
      for (int i = 0; i < own.length; i++) own[i] = ids.next("ledger");
      return own;
    });
    assertEquals(1600, Parallel.distinct(taken));
  }

  @Test
  void passesTheCallsOfATagThatWasRemovedOn() {
    ClientOptions options = new ClientOptions();
    options.server(server.url(), null);
    ClientContext context = new ClientContext(options.validated());
    TagIds next = new TagIds("order", context, retired -> null);
    TagIds removed = new TagIds("order", context, retired -> next);
    assertTrue(removed.retire());
    next.close(ClientContext.closed());
    assertEquals("LEAF_NOT_READY", codeOf(removed::next));
    context.workers.close();
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
