package io.github.leafids;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Unique IDs of Leaf servers over HTTP, with prefetch: a call normally needs no round trip, and calls succeed during an
 * outage while buffered IDs last. All methods can be called by any number of threads.
 *
 * <p>No ID is issued twice, whatever fails. The IDs of one tag ascend while one server serves the tag; those of a strict
 * tag always ascend, and are never prefetched. Close the client at the end.
 *
 * <pre>{@code
 * LeafClient ids = LeafClient.builder().servers("http://10.0.0.5:8080", "http://10.0.0.6:8080").build();
 * long orderId = ids.next("order");
 * }</pre>
 *
 * <p>Every call that gets no ID throws a {@link LeafException}: the refusal of the servers,
 * {@code LEAF_SERVERS_UNAVAILABLE} at the latest after {@code timeout}, {@code LEAF_OVERLOADED} with too many waiting
 * calls, {@code LEAF_NOT_READY} after {@link #close}.
 */
public final class LeafClient implements AutoCloseable {
  /** Number of tags above which empty buffers, mostly of unknown tags, are removed. */
  private static final int MAX_TAGS = 10_000;
  private static final int MAX_SNOWFLAKES = 10_000;
  /** At this time of UTC, a date is the same in all zones from UTC-10 to below UTC+14. */
  private static final LocalTime SAME_DATE = LocalTime.of(10, 0);

  private final ClientOptions options;
  private final ClientContext context;
  private final ConcurrentHashMap<String, TagIds> tags = new ConcurrentHashMap<>();
  private final Periods periods;
  private final WorkerWindow window;
  private boolean closing;
  private volatile boolean closed;

  private LeafClient(ClientOptions options) {
    this.options = options;
    context = new ClientContext(options);
    periods = new Periods(context);
    window = new WorkerWindow(context);
  }

  public static Builder builder() {
    return new Builder();
  }

  /** The next ID of a tag; waits for the servers if none is buffered. */
  public long next(String tag) {
    return open(tag).next();
  }

  /**
   * The next IDs of a tag, ascending.
   *
   * @param count 1 to 1,000,000
   */
  public long[] next(String tag, int count) {
    return Caller.await(nextAsync(tag, count));
  }

  /** As {@link #next(String)}. Dependents of the future run on a thread of the client, and must not block. */
  public CompletableFuture<Long> nextAsync(String tag) {
    return nextAsync(tag, 1).thenApply(ids -> ids[0]);
  }

  /** As {@link #next(String, int)}. Dependents of the future run on a thread of the client, and must not block. */
  public CompletableFuture<long[]> nextAsync(String tag, int count) {
    try {
      assertCount(count, ClientOptions.MAX_SIZE);
      return open(tag).take(count);
    } catch (LeafException error) {
      CompletableFuture<long[]> failed = new CompletableFuture<>();
      failed.completeExceptionally(error);
      return failed;
    }
  }

  /**
   * The next snowflake ID, made by this process under a worker window: no request, and at most a few milliseconds.
   * Without a worker ID, it throws {@code LEAF_NOT_READY} and starts to acquire one: call {@link #ready} before, or
   * {@link #snowflakes}.
   *
   * @throws LeafException {@code LEAF_NOT_READY}, {@code LEAF_LEASE_EXPIRED}, {@code LEAF_CLOCK_BACKWARDS},
   *     {@code LEAF_OVERLOADED}, {@code LEAF_EPOCH_EXHAUSTED}, {@code LEAF_LAYOUT_MISMATCH}, or the refusal of the servers
   */
  public long snowflake() {
    return window.next();
  }

  /**
   * The next snowflake IDs, ascending. Waits for a worker ID, up to {@code timeout}.
   *
   * @param count 1 to 10,000
   */
  public long[] snowflakes(int count) {
    assertCount(count, MAX_SNOWFLAKES);
    return window.take(count);
  }

  /** The next number of the current period, by the clock of the servers. One request. */
  public PeriodNumber nextInPeriod(String tag) {
    return nextInPeriod(tag, (Instant) null);
  }

  /** The next number of the period that contains a date, for tags with a zone from UTC-10 to below UTC+14. */
  public PeriodNumber nextInPeriod(String tag, LocalDate date) {
    return nextInPeriod(tag, date.atTime(SAME_DATE).toInstant(ZoneOffset.UTC));
  }

  /** The next number of the period that contains a time, in the zone of the tag; null is the time of the servers. */
  public PeriodNumber nextInPeriod(String tag, Instant at) {
    if (closed) throw ClientContext.closed();
    assertTag(tag);
    return periods.take(tag, at);
  }

  /**
   * The fields of a snowflake ID, by the layout of the servers; before the first worker window, by that of the options.
   *
   * @throws LeafException {@code LEAF_ID_INVALID}
   */
  public SnowflakeId decode(long id) {
    BitLayout layout = window.layout();
    return (layout == null ? BitLayout.DEFAULT : layout).decompose(id);
  }

  /** Waits until the IDs of {@code preload} are buffered, and with {@code preloadSnowflake} a worker window has begun. */
  public void ready() {
    if (closed) throw ClientContext.closed();
    List<CompletableFuture<long[]>> loads = new ArrayList<>();
    for (String tag : options.preload) loads.add(open(tag).take(0));
    if (options.preloadSnowflake) window.await();
    loads.forEach(Caller::await);
  }

  public LeafSnapshot snapshot() {
    return new LeafSnapshot(context.requester.servers.stream().map(Server::snapshot).collect(Collectors.toList()),
        tags.values().stream().map(TagIds::snapshot).collect(Collectors.toList()), window.snapshot(), context.waiting());
  }

  /** Refuses all calls, including waiting ones, releases the worker ID, and ends the threads. */
  @Override
  public void close() {
    synchronized (this) {
      if (closing) return;
      closing = true;
    }
    closed = true;
    tags.values().forEach(tag -> tag.close(ClientContext.closed()));
    window.close();
    context.requester.close();
    context.workers.close();
  }

  private TagIds open(String tag) {
    TagIds known = tag == null ? null : tags.get(tag);
    if (known != null) return known;
    assertTag(tag);
    if (tags.size() >= MAX_TAGS) tags.values().removeIf(TagIds::retire);
    TagIds opened = tags.computeIfAbsent(tag, name -> new TagIds(name, context, this::reopen));
    if (closed) opened.close(ClientContext.closed());
    return opened;
  }

  private TagIds reopen(TagIds retired) {
    tags.remove(retired.tag, retired);
    return open(retired.tag);
  }

  private static void assertTag(String tag) {
    if (ClientOptions.isTag(tag)) return;
    throw new LeafException("LEAF_TAG_INVALID", ClientOptions.quoted(tag)
        + " is not a valid tag; use 1 to 128 letters, digits, '-', '_', '.' or ':', but not '.' or '..'.");
  }

  private static void assertCount(int count, int most) {
    if (count >= 1 && count <= most) return;
    throw new LeafException("LEAF_SIZE_INVALID", "Invalid number of IDs " + count + ": use 1 to " + most + ".");
  }

  /** Only {@link #servers} is required. */
  public static final class Builder {
    private final ClientOptions options = new ClientOptions();
    private boolean built;

    private Builder() {}

    /** Base URLs of the routes: {@code http://10.0.0.5:8080}, or {@code https://ids.example.org/leaf} behind a proxy. */
    public Builder servers(String... urls) {
      for (String url : urls) options.server(url, null);
      return this;
    }

    public Builder server(String url, String zone) {
      options.server(url, zone);
      return this;
    }

    /** Zone of this application. Servers of other zones are used only if none of this one can serve. */
    public Builder zone(String zone) {
      options.zone = zone;
      return this;
    }

    /** Token of {@code LEAF_CLIENT_TOKENS}; none by default. */
    public Builder token(String token) {
      options.token = options.fixed("token", token);
      return this;
    }

    /** Called for each request. */
    public Builder token(Supplier<String> token) {
      options.token = token;
      return this;
    }

    /** Limit for a call; 5 s by default. */
    public Builder timeout(Duration timeout) {
      options.timeout = timeout;
      return this;
    }

    /** Limit for one request to one server; 1500 ms by default. More than a server waits for its database. */
    public Builder requestTimeout(Duration timeout) {
      options.requestTimeout = timeout;
      return this;
    }

    /** Maximum number of concurrent requests for IDs; 32 by default. */
    public Builder maxRequests(int requests) {
      options.maxRequests = requests;
      return this;
    }

    /** Maximum number of waiting calls; 10,000 by default. */
    public Builder maxWaiting(int calls) {
      options.maxWaiting = calls;
      return this;
    }

    /** IDs per prefetch request, 100 to 1,000,000 by default, and how long they should last, 10 s by default. */
    public Builder segment(int minSize, int maxSize, Duration duration) {
      options.minSize = minSize;
      options.maxSize = maxSize;
      options.segmentDuration = duration;
      return this;
    }

    /** When to eject a failing server; by default after 2 failures in a row, for 250 ms up to 10 s. */
    public Builder ejection(int failures, Duration first, Duration max) {
      options.ejectionFailures = failures;
      options.ejectionFirst = first;
      options.ejectionMax = max;
      return this;
    }

    /** How long snowflake IDs are issued without an answer of a server; 60 s by default, 10 s to 24 h. */
    public Builder window(Duration window) {
      options.window = window;
      return this;
    }

    /** Name of this process in the list of worker windows; the host name by default. */
    public Builder holder(String holder) {
      options.holder = holder;
      return this;
    }

    /** Token of {@code LEAF_WORKER_TOKENS}; that of {@link #token(String)} by default. */
    public Builder workerToken(String token) {
      options.workerToken = options.fixed("workerToken", token);
      return this;
    }

    /** Called for each request of the worker window. */
    public Builder workerToken(Supplier<String> token) {
      options.workerToken = token;
      return this;
    }

    /** The layout of the servers, for {@link LeafClient#decode}; worker windows of another one are refused. */
    public Builder layout(BitLayout layout) {
      options.layout = layout;
      return this;
    }

    /** Tags whose IDs {@link LeafClient#ready} waits for. */
    public Builder preload(String... tags) {
      Collections.addAll(options.preload, tags);
      return this;
    }

    /** {@link LeafClient#ready} waits for a worker window. */
    public Builder preloadSnowflake() {
      options.preloadSnowflake = true;
      return this;
    }

    public Builder clock(LeafClock clock) {
      options.clock = clock;
      return this;
    }

    public Builder listener(LeafListener listener) {
      options.events = new Events(listener);
      return this;
    }

    /**
     * Call it once. No request is sent before the first call of the client.
     *
     * @throws LeafException {@code LEAF_CONFIG_INVALID} that lists all faults of the options
     */
    public LeafClient build() {
      if (built) throw new IllegalStateException("this builder has built a client already");
      LeafClient client = new LeafClient(options.validated());
      built = true;
      return client;
    }
  }
}
