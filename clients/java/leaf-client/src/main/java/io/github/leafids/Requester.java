package io.github.leafids;

import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Sends requests, each on the calling thread. A request without a valid response goes to another server at once. This is
 * always safe: the IDs of a lost response become a gap, and requests with a body are idempotent.
 */
final class Requester {
  /** Back-off after a refusal without {@code Retry-After}. */
  private static final long BACKOFF_NANOS = 1_000_000_000L;

  final List<Server> servers = new ArrayList<>();
  private final ClientOptions options;
  private final long seed = new SecureRandom().nextLong();
  private volatile boolean closing;

  Requester(ClientOptions options) {
    this.options = options;
    options.servers.forEach((url, zone) -> servers.add(new Server(url, zone, options)));
  }

  /** Reads the JSON of a response; null for one without a body. */
  interface Reader<T> {
    T read(Object body) throws ServerFault;
  }

  /** The back-offs of one tag or lease: a server that refused rests for it, and stays in use for everything else. */
  final class Policy {
    private final String key;
    private final Map<Server, Refusal> refusals = new ConcurrentHashMap<>();

    Policy(String key) {
      this.key = key;
    }

    LeafException refusalOf(Server server) {
      Refusal refusal = refusals.get(server);
      return refusal != null && now() - refusal.until < 0 ? refusal.error : null;
    }

    /** For a request that may be answered differently: the reason of a refusal was its size. */
    void releaseAll() {
      refusals.clear();
    }

    /** A server in back-off may be asked before its time when no other one is left, at most once a second. */
    private boolean admitsInNeed(Server server) {
      Refusal refusal = refusals.get(server);
      return refusal == null || now() - refusal.since >= BACKOFF_NANOS;
    }

    /** By rendezvous hashing (Thaler and Ravishankar, 1998): the IDs of a tag ascend while one server serves it. */
    private long score(Server server) {
      long hash = (key + '\n' + server.url).hashCode() ^ seed;
      hash = (hash ^ (hash >>> 33)) * 0xff51afd7ed558ccdL;
      return hash ^ (hash >>> 33);
    }
  }

  private final class Refusal {
    final LeafException error;
    final long since = now();
    final long until;

    Refusal(LeafException error) {
      this.error = error;
      until = since + error.retryAfter().map(Duration::toNanos).orElse(BACKOFF_NANOS);
    }
  }

  /**
   * Requests IDs. Tries the servers one after the other, each at most once.
   *
   * @param path with a query
   * @throws LeafException a refusal that every server would repeat; the refusal of all servers; or
   *     {@code LEAF_SERVERS_UNAVAILABLE}
   */
  <T> T get(Policy policy, String path, Reader<T> reader) {
    return askInTurn(policy, server -> {
      ThreadLocalRandom random = ThreadLocalRandom.current();
      String nonce = String.format("%016x%016x", random.nextLong() ^ System.nanoTime(), random.nextLong());
      HttpChannel.Answer answer = exchange(server, "GET", path + "&nonce=" + nonce, null, options.token);
      String echo = answer.headers.get("leaf-nonce");
      // Servers of an earlier version return none.
      if (echo != null && !echo.equals(nonce)) {
        throw ServerFault.wrong("it belongs to another request. Configure caches and proxies to forward every request to"
            + " /api/, and to cache no response");
      }
      return reader.read(Answers.parse(answer));
    });
  }

  /** Sends an idempotent request of a worker window, as {@link #get}. */
  <T> T send(Policy policy, String method, String path, String body, Reader<T> reader) {
    return askInTurn(policy, server -> {
      HttpChannel.Answer answer = exchange(server, method, path, body, options.workerToken);
      return reader.read(answer.status == 204 ? null : Answers.parse(answer));
    });
  }

  void close() {
    closing = true;
    for (Server server : servers) server.channel.close();
  }

  private interface Attempt<T> {
    T ask(Server server) throws ServerFault;
  }

  private <T> T askInTurn(Policy policy, Attempt<T> attempt) {
    Set<Server> tried = new HashSet<>();
    for (Server server = choose(policy, tried); server != null && !closing; server = choose(policy, tried)) {
      tried.add(server);
      server.begin();
      try {
        T value = attempt.ask(server);
        server.succeeded();
        policy.refusals.remove(server);
        return value;
      } catch (LeafException refusal) {
        server.succeeded();
        if (Answers.isFinal(refusal)) throw refusal;
        policy.refusals.put(server, new Refusal(refusal));
      } catch (ServerFault fault) {
        if (closing) server.abandoned();
        else server.failed(fault);
      } catch (RuntimeException | Error bug) {
        server.abandoned();
        throw bug;
      }
    }
    throw unavailable(policy);
  }

  private HttpChannel.Answer exchange(Server server, String method, String path, String body, Supplier<String> token)
      throws ServerFault {
    long deadline = System.nanoTime() + options.requestTimeout.toNanos();
    // A cache between client and server must not respond: it would return the same IDs twice.
    String headers = "Accept: application/json, application/problem+json\r\nCache-Control: no-store\r\n"
        + (token == null ? "" : "Authorization: Bearer " + visible(token) + "\r\n");
    HttpChannel.Answer answer;
    try {
      answer = server.channel.send(method, path, headers, body, deadline);
    } catch (IOException e) {
      throw new ServerFault("no response: " + Events.reasonOf(e), -1, e);
    }
    if (answer.status == 200 || (body != null && (answer.status == 201 || answer.status == 204))) return answer;
    throw Answers.refusalOf(answer, options.clock);
  }

  private static String visible(Supplier<String> token) {
    String value;
    try {
      value = token.get();
    } catch (RuntimeException e) {
      // Its message can contain a secret: it is not repeated.
      throw new LeafException("LEAF_UNAUTHORIZED", "The token function failed. See the cause.", null, e);
    }
    if (value != null && value.matches("[\\x20-\\x7e]+")) return value;
    throw new LeafException("LEAF_UNAUTHORIZED", "The token contains characters that a header cannot contain.");
  }

  /** Without servers in back-off, healthy ones first, then those of the own zone; null when none is left. */
  private Server choose(Policy policy, Set<Server> tried) {
    List<Server> untried = only(servers, server -> !tried.contains(server));
    List<Server> able = able(only(untried, server -> policy.refusalOf(server) == null));
    if (able.isEmpty()) able = able(only(untried, policy::admitsInNeed));
    List<Server> near = only(able, server -> options.zone != null && options.zone.equals(server.zone));
    Server best = null;
    for (Server server : near.isEmpty() ? able : near) {
      if (best == null || policy.score(server) > policy.score(best)) best = server;
    }
    return best;
  }

  private static List<Server> able(List<Server> servers) {
    List<Server> healthy = only(servers, Server::admits);
    return healthy.isEmpty() ? only(servers, Server::admitsInNeed) : healthy;
  }

  private static List<Server> only(List<Server> servers, Predicate<Server> condition) {
    return servers.stream().filter(condition).collect(Collectors.toList());
  }

  private LeafException unavailable(Policy policy) {
    if (closing) return ClientContext.closed();
    StringBuilder causes = new StringBuilder();
    LeafException last = null;
    int refused = 0;
    for (Server server : servers) {
      LeafException refusal = policy.refusalOf(server);
      String error = refusal != null ? refusal.getMessage() : server.lastError();
      causes.append("; ").append(server.url).append(": ").append(error == null ? "a probe is in progress" : error);
      if (refusal == null) continue;
      refused++;
      // A refusal is final only if all servers refuse.
      if (last == null || (refusal.isRetryable() && !last.isRetryable())) last = refusal;
    }
    if (last != null && refused == servers.size()) return last;
    return new LeafException("LEAF_SERVERS_UNAVAILABLE", "No Leaf server is available. The client recovers by itself;"
        + " check that the servers are up and reachable. " + causes.substring(2) + ".", Duration.ofSeconds(1), null);
  }

  private long now() {
    return options.clock.monotonicNanos();
  }
}
