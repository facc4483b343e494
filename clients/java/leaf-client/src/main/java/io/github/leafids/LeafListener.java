package io.github.leafids;

/**
 * Events for the log and the metrics of an application. Methods run on threads of the client: they must not block.
 * Exceptions that they throw are ignored.
 */
public interface LeafListener {
  /** IDs of a tag have arrived; {@code millis} is the duration of the load with its retries. */
  default void onLoad(String tag, long count, long millis) {}

  /** A load failed: called for the first failure of a series and every 100th; the client retries by itself. */
  default void onLoadFailed(String tag, Throwable error) {}

  /** A server failed, and gets no requests for {@code millis}. */
  default void onServerEjected(String url, Throwable error, long millis) {}

  default void onServerReadmitted(String url) {}

  /** The client holds a worker ID, and may issue snowflake IDs up to {@code until} (Unix milliseconds). */
  default void onWindowAcquired(int workerId, long until) {}

  /** The worker ID belongs to another holder, or to a copy of this process. The client acquires another one. */
  default void onWindowLost(int workerId, Throwable error) {}

  /** A request for a worker ID failed: called for the first failure of a series and every 100th. */
  default void onWindowFailed(Throwable error) {}
}
