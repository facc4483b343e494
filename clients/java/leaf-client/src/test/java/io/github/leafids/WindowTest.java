package io.github.leafids;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class WindowTest {
  private final TestServer server = new TestServer();
  private final FakeClock clock = new FakeClock();
  private final LinkedBlockingQueue<String> events = new LinkedBlockingQueue<>();
  private LeafClient ids;

  WindowTest() throws IOException {
    // So that the client extends it after a second.
    server.windowMs = 1900;
  }

  @AfterEach
  void close() {
    if (ids != null) ids.close();
    server.close();
  }

  private LeafClient.Builder builder() {
    return server.client().window(Duration.ofSeconds(10)).workerToken("t0").clock(clock).preloadSnowflake()
        .listener(new LeafListener() {
          @Override
          public void onWindowAcquired(int workerId, long until) {
            events.add("acquired " + workerId);
          }

          @Override
          public void onWindowLost(int workerId, Throwable error) {
            events.add("lost " + workerId);
          }
        });
  }

  private String awaitedEvent() throws InterruptedException {
    return String.valueOf(events.poll(10, TimeUnit.SECONDS));
  }

  private String refusal() {
    return assertThrows(LeafException.class, ids::snowflake).code();
  }

  @Test
  void acquiresExtendsAndReleases() throws InterruptedException {
    server.windowMs = 5000;
    ids = builder().build();
    assertEquals("LEAF_NOT_READY", refusal());
    ids.ready();
    TestServer.Request post = server.awaited("POST");
    assertEquals("Bearer t0", post.header("authorization"));
    assertEquals("test", post.json("holder"));
    assertEquals(10_000L, post.json("windowMs"));
    long until = ids.snapshot().window().get().until();
    SnowflakeId id = ids.decode(ids.snowflake());
    assertEquals(17, id.workerId());
    TestServer.Request put = server.awaited("PUT");
    assertEquals(post.lease(), put.lease());
    assertEquals(until, put.json("known"));
    assertTrue((Long) put.json("mark") >= 0 && (Long) put.json("mark") < 1000);
    long newest = ids.decode(ids.snowflake()).timestamp();
    ids.close();
    TestServer.Request delete = server.awaited("DELETE");
    assertEquals(newest, delete.json("lastTimestamp"));
    assertEquals(post.lease(), delete.lease());
    assertEquals("LEAF_NOT_READY", refusal());
  }

  @Test
  void sendsTheSameLeaseAndMarkUntilAnAnswerArrives() throws InterruptedException {
    server.windowMs = 5000;
    server.rules.add(TestServer.Request::lose);
    server.rules.add(request -> request.send(502, "text/html", ""));
    ids = builder().build();
    ids.ready();
    assertEquals(server.awaited("POST").lease(), server.awaited("POST").lease());
    server.rules.add(request -> request.send(502, "text/html", ""));
    TestServer.Request first = server.awaited("PUT");
    TestServer.Request second = server.awaited("PUT");
    assertEquals(first.body, second.body);
  }

  @Test
  void stopsAfterAConflictAndTakesANewLease() throws InterruptedException {
    ids = builder().build();
    ids.ready();
    assertEquals("acquired 17", awaitedEvent());
    TestServer.Request post = server.awaited("POST");
    server.workerId = 18;
    server.rules.add(request -> request.refuse(409, "LEAF_LEASE_LOST"));
    assertEquals("lost 17", awaitedEvent());
    assertEquals("LEAF_NOT_READY", refusal());
    assertEquals("acquired 18", awaitedEvent());
    assertNotEquals(post.lease(), server.awaited("POST").lease());
    assertEquals(18, ids.decode(ids.snowflakes(1)[0]).workerId());
  }

  @Test
  void refusesAfterTheEndOfTheWindowUntilAServerAnswers() throws InterruptedException {
    ids = builder().build();
    ids.ready();
    server.always = request -> request.send(502, "text/html", "");
    clock.step(2000);
    assertEquals("LEAF_LEASE_EXPIRED", refusal());
    server.windowMs = 60_000;
    server.always = null;
    assertEquals(3, ids.snowflakes(3).length);
  }

  @Test
  void refusesWhenTheClockWasSetBack() {
    ids = builder().build();
    long first = ids.snowflakes(1)[0];
    clock.step(-5000);
    assertEquals("LEAF_CLOCK_BACKWARDS", refusal());
    clock.step(5000);
    assertTrue(ids.snowflake() > first);
  }

  @Test
  void tellsNothingToServersThatDoNotKnowIt() throws InterruptedException {
    ids = builder().build();
    ids.ready();
    server.rules.add(request -> request.refuse(400, "LEAF_BODY_INVALID"));
    server.awaited("PUT");
    TestServer.Request second = server.awaited("PUT");
    assertNull(second.json("known"));
    assertNull(second.json("mark"));
    assertEquals(17L, second.json("workerId"));
  }

  @Test
  void endsForGoodWhenTheLayoutChanges() throws InterruptedException {
    ids = builder().build();
    ids.ready();
    ids.snowflake();
    server.layout = TestServer.LAYOUT.replace("12}", "11}");
    server.awaited("PUT");
    LeafException error = null;
    // The answer arrives after its request.
    while (error == null || !error.code().equals("LEAF_LAYOUT_MISMATCH")) {
      try {
        ids.snowflakes(1);
      } catch (LeafException e) {
        error = e;
      }
    }
    assertEquals("LEAF_LAYOUT_MISMATCH", refusal());
  }

  @Test
  void refusesWithTheCodeOfTheServersAndAcquiresLater() {
    server.rules.add(request -> request.refuse(409, "LEAF_WORKERS_USED_UP"));
    ids = builder().build();
    LeafException error = assertThrows(LeafException.class, () -> ids.snowflakes(1));
    assertEquals("LEAF_WORKERS_USED_UP", error.code());
    while (ids.snapshot().window().orElse(null) == null) {
      try {
        ids.snowflakes(1);
      } catch (LeafException e) {
        assertEquals("LEAF_WORKERS_USED_UP", e.code());
      }
    }
    assertEquals(server.log.get(0).lease(), server.log.get(1).lease(), "the same lease");
  }

  @Test
  void asksTheOtherServersWhenOneHasNoWorkerIdLeft() throws IOException {
    try (TestServer full = new TestServer()) {
      full.always = request -> request.refuse(409, "LEAF_WORKERS_USED_UP");
      // The server without worker IDs is asked first.
      ids = LeafClient.builder().server(full.url(), "near").server(server.url(), "far").zone("near").build();
      assertEquals(17, ids.decode(ids.snowflakes(1)[0]).workerId());
      assertEquals(1, full.log.size());
      assertEquals(full.log.get(0).lease(), server.log.get(0).lease(), "the same lease");
    }
  }

  @Test
  void doesNotExtendAgainAndAgainWhenTheEndIsFarAway() throws InterruptedException {
    // Half of it is 2^63 nanoseconds or more.
    server.windowMs = 20_000_000_000_000L;
    ids = builder().build();
    ids.ready();
    TimeUnit.MILLISECONDS.sleep(300);
    assertEquals(1, server.log.size());
  }

  @Test
  void closesWithinTheTimeLimitOfACall() {
    ids = builder().timeout(Duration.ofSeconds(2)).requestTimeout(Duration.ofSeconds(6)).build();
    ids.ready();
    server.always = request -> {
      try {
        TimeUnit.SECONDS.sleep(8);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    };
    long start = System.nanoTime();
    ids.close();
    assertTrue(System.nanoTime() - start < 5_000_000_000L, "milliseconds: " + (System.nanoTime() - start) / 1_000_000);
  }

  @Test
  void releasesAlsoInAnInterruptedThread() throws InterruptedException {
    ids = builder().build();
    ids.ready();
    server.always = request -> {
      // The request that extends is in progress when the client closes.
      if (request.method.equals("PUT")) LockSupport.parkNanos(200_000_000L);
      request.sound();
    };
    server.awaited("PUT");
    Thread.currentThread().interrupt();
    ids.close();
    assertTrue(Thread.interrupted());
    server.awaited("DELETE");
  }

  @Test
  void isUniqueInEightThreadsWhileTheWorkerIsLost() throws Exception {
    ids = builder().build();
    ids.ready();
    server.workerId = 18;
    server.rules.add(request -> request.refuse(404, "LEAF_LEASE_NOT_FOUND"));
    long[] taken = Parallel.sorted(8, () -> {
      long[] own = new long[40];
      for (int i = 0; i < own.length; i++) {
        own[i] = ids.snowflakes(1)[0];
        TimeUnit.MILLISECONDS.sleep(60);
      }
      return own;
    });
    assertEquals(320, Parallel.distinct(taken));
    assertTrue(java.util.Arrays.stream(taken).anyMatch(id -> ids.decode(id).workerId() == 18));
  }
}
