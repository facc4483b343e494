package io.github.leafids;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** What the parts of one client share. */
final class ClientContext {
  final ClientOptions options;
  final Requester requester;
  final Workers workers;
  private final AtomicInteger waiting = new AtomicInteger();

  ClientContext(ClientOptions options) {
    this.options = options;
    requester = new Requester(options);
    workers = new Workers(options.maxRequests);
  }

  long now() {
    return options.clock.monotonicNanos();
  }

  int waiting() {
    return waiting.get();
  }

  /** Call before a call waits. @throws LeafException {@code LEAF_OVERLOADED} at the limit */
  void enter() {
    if (waiting.incrementAndGet() <= options.maxWaiting) return;
    waiting.decrementAndGet();
    throw new LeafException("LEAF_OVERLOADED", options.maxWaiting
        + " calls are already waiting for IDs in this client. Retry later, or raise maxWaiting.", Duration.ofSeconds(1), null);
  }

  void leave() {
    waiting.decrementAndGet();
  }

  LeafException late(String what) {
    return new LeafException("LEAF_SERVERS_UNAVAILABLE", "No Leaf server returned " + what + " within "
        + options.timeout.toMillis() + " ms (timeout). The client retries by itself; check that the servers are up and"
        + " reachable.", Duration.ofSeconds(1), null);
  }

  static LeafException closed() {
    return new LeafException("LEAF_NOT_READY", "This Leaf client is closed. Create a new one to get IDs.");
  }
}
