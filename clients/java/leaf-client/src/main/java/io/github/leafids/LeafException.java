package io.github.leafids;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/** The only exception of the client for a call that gets no ID: a code of docs/errors.md, and what to do next. */
public class LeafException extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final Set<String> RETRYABLE = Collections.unmodifiableSet(new HashSet<>(Arrays.asList(
      "LEAF_QUOTA_EXCEEDED", "LEAF_NOT_READY", "LEAF_OVERLOADED", "LEAF_SEGMENT_UNAVAILABLE",
      "LEAF_STORE_UNAVAILABLE", "LEAF_STORE_BACKWARDS", "LEAF_CLOCK_BACKWARDS", "LEAF_LEASE_EXPIRED",
      "LEAF_REGISTRY_UNREACHABLE", "LEAF_SERVERS_UNAVAILABLE")));

  private final String code;
  private final Duration retryAfter;

  public LeafException(String code, String message) {
    this(code, message, null, null);
  }

  /**
   * @param retryAfter when to retry; null if it is not known
   * @param cause the underlying error; null if there is none
   */
  public LeafException(String code, String message, Duration retryAfter, Throwable cause) {
    super(message, cause);
    this.code = code;
    this.retryAfter = retryAfter;
  }

  /** The code, such as {@code LEAF_TAG_NOT_FOUND}. */
  public String code() {
    return code;
  }

  /** When to retry, from the time of the exception. */
  public Optional<Duration> retryAfter() {
    return Optional.ofNullable(retryAfter);
  }

  /** Whether the same call may succeed later without a change to a setting or a row. */
  public boolean isRetryable() {
    return RETRYABLE.contains(code);
  }

  @Override
  public String toString() {
    return LeafException.class.getName() + ": " + code + ": " + getMessage();
  }

  boolean is(String other) {
    return code.equals(other);
  }

  /** The same refusal with the stack trace of the calling thread. */
  LeafException rethrown() {
    return new LeafException(code, getMessage(), retryAfter, this);
  }
}
