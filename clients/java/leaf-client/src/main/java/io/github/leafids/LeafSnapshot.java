package io.github.leafids;

import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** The state of a client at one time. */
public final class LeafSnapshot {
  private final List<Server> servers;
  private final List<Tag> tags;
  private final Window window;
  private final int waiting;

  LeafSnapshot(List<Server> servers, List<Tag> tags, Window window, int waiting) {
    this.servers = Collections.unmodifiableList(servers);
    this.tags = Collections.unmodifiableList(tags);
    this.window = window;
    this.waiting = waiting;
  }

  public List<Server> servers() {
    return servers;
  }

  public List<Tag> tags() {
    return tags;
  }

  /** The worker ID of this client; empty while none is held. */
  public Optional<Window> window() {
    return Optional.ofNullable(window);
  }

  /** Calls that wait for IDs. */
  public int waiting() {
    return waiting;
  }

  /** One server. */
  public static final class Server {
    private final String url;
    private final String zone;
    private final String state;
    private final long failures;
    private final String lastError;

    Server(String url, String zone, String state, long failures, String lastError) {
      this.url = url;
      this.zone = zone;
      this.state = state;
      this.failures = failures;
      this.lastError = lastError;
    }

    public String url() {
      return url;
    }

    public Optional<String> zone() {
      return Optional.ofNullable(zone);
    }

    /** {@code serving}, {@code ejected} or {@code probation}. */
    public String state() {
      return state;
    }

    /** Requests that failed since the start of the client. */
    public long failures() {
      return failures;
    }

    /** The last error, until the next success. */
    public Optional<String> lastError() {
      return Optional.ofNullable(lastError);
    }
  }

  /** The buffer of one tag. */
  public static final class Tag {
    private final String name;
    private final long buffered;
    private final int size;
    private final boolean loading;
    private final long failures;

    Tag(String name, long buffered, int size, boolean loading, long failures) {
      this.name = name;
      this.buffered = buffered;
      this.size = size;
      this.loading = loading;
      this.failures = failures;
    }

    public String name() {
      return name;
    }

    /** IDs that are available without waiting. */
    public long buffered() {
      return buffered;
    }

    /** Size of the newest load. */
    public int size() {
      return size;
    }

    public boolean loading() {
      return loading;
    }

    /** Requests that failed since the start of the client. */
    public long failures() {
      return failures;
    }
  }

  /** The worker window that is held. Times are Unix milliseconds. */
  public static final class Window {
    private final int workerId;
    private final long from;
    private final long until;
    private final long issued;

    Window(int workerId, long from, long until, long issued) {
      this.workerId = workerId;
      this.from = from;
      this.until = until;
      this.issued = issued;
    }

    public int workerId() {
      return workerId;
    }

    public long from() {
      return from;
    }

    public long until() {
      return until;
    }

    /** Snowflake IDs that were issued under this worker ID since it was acquired. */
    public long issued() {
      return issued;
    }
  }
}
