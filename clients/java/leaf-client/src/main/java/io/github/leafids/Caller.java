package io.github.leafids;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/** A call that waits for {@code count} IDs of one tag; with 0, until any are buffered. */
final class Caller {
  final int count;
  final CompletableFuture<long[]> answer = new CompletableFuture<>();
  Future<?> alarm;
  private final long[] ids;
  private int filled;

  Caller(int count) {
    this.count = count;
    ids = new long[count];
  }

  int missing() {
    return count - filled;
  }

  void add(long first, long size) {
    for (long i = 0; i < size; i++) ids[filled++] = first + i;
  }

  void clear() {
    filled = 0;
  }

  /** Completes the call. Not under a lock: it can run code of the application. */
  void serve() {
    if (alarm != null) alarm.cancel(false);
    // They are out of order only after a change of the server.
    Arrays.sort(ids);
    answer.complete(ids);
  }

  void refuse(LeafException error) {
    if (alarm != null) alarm.cancel(false);
    answer.completeExceptionally(error);
  }

  /** @throws LeafException that of the call, with the stack trace of this thread */
  static <T> T await(CompletableFuture<T> answer) {
    try {
      return answer.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof LeafException) throw ((LeafException) e.getCause()).rethrown();
      throw new LeafException("LEAF_INTERNAL", "A request failed because of an error in the client.", null, e.getCause());
    } catch (InterruptedException e) {
      answer.cancel(false);
      Thread.currentThread().interrupt();
      throw new LeafException("LEAF_SERVERS_UNAVAILABLE", "The thread was interrupted while it waited for IDs.",
          Duration.ofSeconds(1), e);
    }
  }
}
