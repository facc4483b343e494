package io.github.leafids;

import java.net.URI;

/**
 * One server and its health.
 *
 * <ul>
 *   <li><i>serving</i>: it gets requests. Consecutive failures lead to <i>ejected</i>.
 *   <li><i>ejected</i>: it gets no requests, for longer each time, then one: <i>probation</i>.
 *   <li><i>probation</i>: success leads to <i>serving</i>, failure back to <i>ejected</i>.
 * </ul>
 *
 * When no other server is left, an ejected one occasionally gets a request early, so that the client recovers soon
 * after an outage of all servers.
 */
final class Server {
  final String url;
  final String zone;
  final HttpChannel channel;
  private final ClientOptions options;
  private int failuresInRow;
  private int ejections;
  private long failures;
  private Throwable lastError;
  private boolean probing;
  private long failedAt;
  private long ejectedUntil;
  /** End of the pause that {@code Retry-After} of the server requests. */
  private long heldUntil;

  Server(String url, String zone, ClientOptions options) {
    this.url = url;
    this.zone = zone;
    this.options = options;
    this.channel = new HttpChannel(URI.create(url.replaceAll("/+$", "")));
    failedAt = ejectedUntil = heldUntil = now();
  }

  /** Whether one more request may be sent. */
  synchronized boolean admits() {
    return ejections == 0 || (now() - ejectedUntil >= 0 && !probing);
  }

  /** Whether one more request may be sent when no other server is left. */
  synchronized boolean admitsInNeed() {
    return admits() || (!probing && now() - heldUntil >= 0 && now() - failedAt >= options.ejectionFirst.toNanos());
  }

  synchronized void begin() {
    if (ejections > 0) probing = true;
  }

  /** After a response with IDs or with a valid refusal. */
  void succeeded() {
    boolean readmitted;
    synchronized (this) {
      readmitted = ejections > 0;
      failuresInRow = ejections = 0;
      probing = false;
      lastError = null;
    }
    if (readmitted) options.events.fire(listener -> listener.onServerReadmitted(url));
  }

  void failed(ServerFault fault) {
    long forMs;
    synchronized (this) {
      long now = now();
      // The failure of a request that was sent before the ejection is no new information.
      boolean late = ejections > 0 && now - ejectedUntil < 0 && !probing;
      failures++;
      failuresInRow++;
      lastError = fault;
      probing = false;
      failedAt = now;
      long pause = Math.max(0, fault.retryAfterMs) * 1_000_000;
      if (now + pause - heldUntil > 0) heldUntil = now + pause;
      if (late || (ejections == 0 && failuresInRow < options.ejectionFailures && fault.retryAfterMs < 0)) return;
      long backoffMs = Backoff.millis(++ejections, options.ejectionFirst.toMillis(), options.ejectionMax.toMillis());
      forMs = Math.max(backoffMs, pause / 1_000_000);
      ejectedUntil = now + forMs * 1_000_000;
    }
    options.events.fire(listener -> listener.onServerEjected(url, fault, forMs));
  }

  /** After a request that ended without information about the server. */
  synchronized void abandoned() {
    probing = false;
  }

  synchronized String lastError() {
    return lastError == null ? null : Events.reasonOf(lastError);
  }

  synchronized LeafSnapshot.Server snapshot() {
    String state = ejections == 0 ? "serving" : now() - ejectedUntil < 0 ? "ejected" : "probation";
    return new LeafSnapshot.Server(url, zone, state, failures, lastError());
  }

  private long now() {
    return options.clock.monotonicNanos();
  }
}
