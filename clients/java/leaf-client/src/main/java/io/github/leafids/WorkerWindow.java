package io.github.leafids;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The worker ID of a client: the rules of docs/worker-windows.md.
 *
 * <pre>
 * idle ──► acquiring ──► held ──► acquiring   409 or 404: with a new lease
 *   ▲          │          └──► ended          the layout has changed: final
 *   └──────────┘ refused permanently; the next call acquires again
 * </pre>
 *
 * One thread sends one request at a time, and its answer is read only until its time limit. So the newest answer that
 * has arrived counts, and no answer of one lease reaches the term of the next. The lock of this object guards the
 * fields; {@link #next} takes it only without an ID.
 */
final class WorkerWindow {
  /** A call waits at most so long for the next millisecond, or for a clock that was set back a little. */
  private static final long MAX_BLOCK_NANOS = 10_000_000L;
  private static final long PAUSE_NANOS = 50_000L;
  private static final long SECOND = 1_000_000_000L;
  /** Longest interval between two looks at the clock of a waiting call. */
  private static final long LOOK_MS = 1000;
  /** Longer than half of any window, for answers with an end that is far away. */
  private static final long LONGEST_REST_MS = 86_400_000;

  private final ClientContext context;
  private volatile Term term;
  /** The layout of the answers; before the first answer, that of the options, which can be null. */
  private volatile BitLayout layout;
  private Lease lease;
  private Window held;
  /** Unix milliseconds of the newest ID of all ended terms, and of those under this lease; -1 if there is none. */
  private long used = -1;
  private long usedInTerm = -1;
  private Thread keeper;
  private boolean isFinal;
  private LeafException refusal = notYet();
  private long refusedUntil;
  private LeafException lastError;
  private int failuresInRow;
  /** By the monotonic clock: when the next extension is due, and before when none is sent. */
  private long extendAt;
  private long renewableAt;

  WorkerWindow(ClientContext context) {
    this.context = context;
    layout = context.options.layout;
    refusedUntil = context.now();
  }

  /** The next ID. Waits a few milliseconds if the IDs of this millisecond are used up. */
  long next() {
    Term current = term;
    long id = current == null ? Term.ENDED : current.tryNext();
    return id >= 0 ? id : nextBlocking(System.nanoTime() + MAX_BLOCK_NANOS);
  }

  /** Waits until a call can get an ID, at most as long as a call may take. */
  void await() {
    context.enter();
    try {
      long deadline = context.now() + context.options.timeout.toNanos();
      synchronized (this) {
        for (LeafException error = obstacle(); error != null; error = obstacle()) waitFor(error, deadline);
      }
    } finally {
      context.leave();
    }
  }

  long[] take(int count) {
    long deadline = System.nanoTime() + context.options.timeout.toNanos();
    await();
    long[] ids = new long[count];
    for (int i = 0; i < count; i++) {
      Term current = term;
      long id = current == null ? Term.ENDED : current.tryNext();
      ids[i] = id >= 0 ? id : nextBlocking(deadline);
    }
    return ids;
  }

  BitLayout layout() {
    return layout;
  }

  LeafSnapshot.Window snapshot() {
    Term current = term;
    return current == null ? null
        : new LeafSnapshot.Window(current.workerId, current.from, current.until(), current.issued());
  }

  /** Ends the issuing of IDs, and releases the worker ID within the time limit of a call. */
  void close() {
    Thread running;
    synchronized (this) {
      isFinal = true;
      end(ClientContext.closed());
      running = keeper;
    }
    long timeoutMs = context.options.timeout.toMillis();
    long deadline = context.now() + timeoutMs * 1_000_000;
    // On its own thread: its requests may take longer than a call, and that of the caller may be interrupted.
    Thread releasing = Workers.named("leaf-release").newThread(() -> release(running, deadline));
    releasing.start();
    boolean interrupted = false;
    for (long leftMs = timeoutMs; leftMs > 0; leftMs = (deadline - context.now()) / 1_000_000) {
      try {
        releasing.join(leftMs);
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) Thread.currentThread().interrupt();
  }

  private void release(Thread running, long deadline) {
    try {
      // The request in progress may give or extend a window.
      if (running != null) running.join(context.options.timeout.toMillis());
      Lease last = lease();
      for (int attempt = 1; last != null; attempt++) {
        try {
          last.release(lastUsed());
          return;
        } catch (LeafException error) {
          long pauseMs = Backoff.millis(attempt, 25, 1000);
          if (!error.isRetryable() || context.now() + pauseMs * 1_000_000 - deadline > 0) {
            context.options.events.fire(each -> each.onWindowFailed(error));
            return;
          }
          Thread.sleep(pauseMs);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private long nextBlocking(long deadline) {
    for (;;) {
      Term current = term;
      if (current == null) throw open();
      // Read the time before the attempt: the process may be suspended in between.
      boolean late = System.nanoTime() - deadline >= 0;
      long id = current.tryNext();
      if (id >= 0) return id;
      if (id == Term.ENDED && current != term) continue;
      if (late || (id != Term.EXHAUSTED && id != Term.ABSORBING)) throw refused(current, (int) id);
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  private LeafException refused(Term current, int obstacle) {
    if (obstacle == Term.CEILING) renew();
    return obstacle == Term.ENDED ? open() : current.refused(obstacle);
  }

  /** Acquires a worker ID in the background, unless that is under way or was just refused. @return why there is none */
  private synchronized LeafException open() {
    if (!isFinal && keeper == null && context.now() - refusedUntil >= 0) {
      if (!refusal.isRetryable()) refusal = notYet();
      Thread started = Workers.named("leaf-window").newThread(this::keep);
      started.start();
      keeper = started;
    }
    return refusal.rethrown();
  }

  private LeafException obstacle() {
    Term current = term;
    if (current == null) return open();
    int obstacle = current.obstacle();
    return obstacle == 0 ? null : refused(current, obstacle);
  }

  private void waitFor(LeafException error, long deadline) {
    if (keeper == null || isFinal || !error.isRetryable()) throw error;
    long leftMs = (deadline - context.now()) / 1_000_000;
    if (leftMs <= 0) throw held != null ? error : lastError != null ? lastError.rethrown() : context.late("a worker ID");
    long retryMs = error.retryAfter().map(Duration::toMillis).orElse(LOOK_MS);
    sleep(Math.min(leftMs, Math.max(1, Math.min(LOOK_MS, retryMs))));
  }

  /** Extends soon, after a jump of the clock: not before a tenth of the window has passed. */
  private synchronized void renew() {
    if (context.now() - renewableAt < 0) return;
    extendAt = context.now();
    notifyAll();
  }

  /** The thread that keeps the worker ID. */
  private void keep() {
    try {
      while (keepOne()) pause(1000);
    } finally {
      synchronized (this) {
        keeper = null;
        notifyAll();
      }
    }
  }

  /** @return whether the worker ID was lost, and another one is to be acquired */
  private boolean keepOne() {
    Lease current;
    synchronized (this) {
      if (isFinal) return false;
      // A request under the lease may have been refused after one whose answer was lost.
      if (lease == null) lease = new Lease(context);
      current = lease;
    }
    long maxMs = Math.min(30_000, context.options.window.toMillis() / 20);
    try {
      accept(attempt(current::acquire, LeafException::isRetryable, 25, 1000));
      while (untilDue()) accept(attempt(() -> current.extend(held), error -> !isLost(error), 100, maxMs));
      return false;
    } catch (LeafException error) {
      return isLost(error) ? lose(error) : refuse(error);
    } catch (RuntimeException | Error bug) {
      return refuse(new LeafException("LEAF_INTERNAL", "Keeping the worker ID failed in the client.", null, bug));
    }
  }

  private Window attempt(Supplier<Window> request, Predicate<LeafException> isRetryable, long firstMs, long maxMs) {
    for (int attempt = 1; ; attempt++) {
      try {
        Window window = request.get();
        synchronized (this) {
          lastError = null;
          failuresInRow = 0;
        }
        return window;
      } catch (LeafException error) {
        boolean reported;
        synchronized (this) {
          lastError = error;
          reported = failuresInRow++ % 100 == 0 && !isFinal;
          if (isFinal) throw error;
        }
        if (reported) context.options.events.fire(each -> each.onWindowFailed(error));
        if (!isRetryable.test(error)) throw error;
        pause(Backoff.millis(attempt, firstMs, maxMs));
        synchronized (this) {
          if (isFinal) throw error;
        }
      }
    }
  }

  /** @throws LeafException {@code LEAF_LAYOUT_MISMATCH} */
  private void accept(Window window) {
    boolean acquired;
    synchronized (this) {
      if (layout == null) layout = window.layout;
      if (!layout.equals(window.layout)) {
        held = window;
        throw new LeafException("LEAF_LAYOUT_MISMATCH", "The servers use the bit layout " + window.layout
            + ", and this client " + layout + ". IDs of both can be equal, so this client issues no more snowflake IDs.");
      }
      long wall = context.options.clock.wallMillis();
      long windowMs = context.options.window.toMillis();
      // By the clock that reaches the end first; but not again and again if the own one is far ahead.
      long left = Math.min(window.until - window.now, window.until - wall);
      long restMs = Math.min(LONGEST_REST_MS, Math.max(windowMs / 10, left / 2));
      renewableAt = context.now() + windowMs * 100_000;
      extendAt = context.now() + restMs * 1_000_000;
      acquired = term == null;
      if (acquired) held = window;
      if (isFinal) return;
      Term next = acquired ? new Term(window, context.options.clock, used, this::renew) : term;
      next.extend(window.until, wall + restMs);
      term = next;
      notifyAll();
    }
    if (acquired) context.options.events.fire(each -> each.onWindowAcquired(window.workerId, window.until));
  }

  /** Waits until the next extension is due; false when the client closes. */
  private synchronized boolean untilDue() {
    for (long left = extendAt - context.now(); left > 0 && !isFinal; left = extendAt - context.now()) {
      sleep(left / 1_000_000 + 1);
    }
    return !isFinal;
  }

  private synchronized void pause(long millis) {
    long until = context.now() + millis * 1_000_000;
    for (long left = until - context.now(); left > 0 && !isFinal; left = until - context.now()) sleep(left / 1_000_000 + 1);
  }

  private void sleep(long millis) {
    try {
      wait(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LeafException("LEAF_NOT_READY", "The thread was interrupted while it waited for a worker ID.",
          Duration.ofSeconds(1), e);
    }
  }

  private boolean lose(LeafException error) {
    Window lost;
    synchronized (this) {
      lost = held;
      if (!isFinal) {
        end(new LeafException("LEAF_NOT_READY", "This client no longer holds a worker ID: the window has ended, the lease"
            + " was released, or a copy of this process has extended the window. It acquires another worker ID.",
            Duration.ofSeconds(1), error));
      }
      held = null;
      lease = null;
      usedInTerm = -1;
    }
    if (lost != null) context.options.events.fire(each -> each.onWindowLost(lost.workerId, error));
    return true;
  }

  private synchronized boolean refuse(LeafException error) {
    if (isFinal) return false;
    isFinal = error.is("LEAF_LAYOUT_MISMATCH");
    refusedUntil = context.now() + SECOND;
    end(error);
    return false;
  }

  private synchronized Lease lease() {
    return lease;
  }

  /** Unix milliseconds of the newest ID under this lease, or those before its window. */
  private synchronized long lastUsed() {
    return held == null ? 0 : usedInTerm >= 0 ? usedInTerm : held.from - 1;
  }

  private void end(LeafException reason) {
    if (term != null) usedInTerm = Math.max(usedInTerm, term.end());
    used = Math.max(used, usedInTerm);
    term = null;
    refusal = reason;
    notifyAll();
  }

  private static LeafException notYet() {
    return new LeafException("LEAF_NOT_READY", "This client has no worker ID yet. Call snowflakes(1), which waits for the"
        + " servers; or preloadSnowflake() and ready().", Duration.ofSeconds(1), null);
  }

  private static boolean isLost(LeafException error) {
    return error.is("LEAF_LEASE_LOST") || error.is("LEAF_LEASE_NOT_FOUND");
  }
}
