package io.github.leafids;

/** A fault of a server, or of a proxy in front of it: no response, or an invalid one. */
final class ServerFault extends Exception {
  private static final long serialVersionUID = 1L;
  /** {@code Retry-After} in milliseconds; -1 if there is none. */
  final long retryAfterMs;

  ServerFault(String message, long retryAfterMs, Throwable cause) {
    super(message, cause);
    this.retryAfterMs = retryAfterMs;
  }

  static ServerFault wrong(String problem) {
    return new ServerFault("invalid response: " + problem, -1, null);
  }

  static ServerFault repeated(String what) {
    return new ServerFault("it repeated " + what + ": a proxy caches responses, or the servers do not share one database",
        -1, null);
  }
}
