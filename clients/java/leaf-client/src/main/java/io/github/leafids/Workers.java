package io.github.leafids;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The threads of one client, all daemons: one for timers, and one for each request in progress. */
final class Workers {
  private final ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(1, named("leaf-timer"));
  private final ThreadPoolExecutor requests;

  /** @param maxRequests further requests wait for one of these to end */
  Workers(int maxRequests) {
    timers.setRemoveOnCancelPolicy(true);
    // No call may depend on whether the host can start this thread later.
    timers.prestartCoreThread();
    requests = new ThreadPoolExecutor(maxRequests, maxRequests, 5, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
        named("leaf-request"));
    requests.allowCoreThreadTimeOut(true);
  }

  /** @return false after {@link #close} */
  boolean run(Runnable request) {
    try {
      requests.execute(request);
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  /** @return null after {@link #close} */
  ScheduledFuture<?> after(long nanos, Runnable task) {
    try {
      return timers.schedule(task, nanos, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      return null;
    }
  }

  /** Requests that wait still run, so that their calls are refused. */
  void close() {
    timers.shutdownNow();
    requests.shutdown();
  }

  static ThreadFactory named(String name) {
    return task -> {
      Thread thread = new Thread(task, name);
      thread.setDaemon(true);
      return thread;
    };
  }
}
