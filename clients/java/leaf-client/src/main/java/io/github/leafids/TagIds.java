package io.github.leafids;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * The IDs of one tag: a double buffer of prefetched ranges. When a tenth of the newest load is used, one request fetches
 * the next load, whose size follows the consumption.
 *
 * <p>A strict tag has no buffer. One request at a time is under way, for exactly as many IDs as callers wait when it is
 * sent, and its IDs go only to these callers.
 *
 * <p>The fields are guarded by the lock of this object. {@link #next} takes it only at the low mark and without IDs.
 */
final class TagIds {
  private static final int MAX_ANSWERS = 32;
  private static final long REFUSAL_NANOS = 1_000_000_000L;

  final String tag;
  private final ClientContext context;
  private final Function<TagIds, TagIds> reopen;
  private final Requester.Policy policy;
  private volatile Range current = new Range(1, 0);
  private final ArrayDeque<Range> queue = new ArrayDeque<>();
  private final LinkedHashSet<Caller> callers = new LinkedHashSet<>();
  /** The newest answers, to refuse one that repeats an ID. */
  private final ArrayDeque<Answers.Ranges> answers = new ArrayDeque<>();
  private boolean strict;
  /** The highest ID of a strict tag that was seen. */
  private long highest;
  /** So many callers of a strict tag go alone: one of them wants more IDs than the tag has left. */
  private int divided;
  /** Until {@code exhaustedUntil}, the refusal of each batch of a strict tag with {@code tooMany} IDs or more. */
  private LeafException exhausted;
  private long exhaustedUntil;
  private int tooMany;
  /** The callers of the request of a strict tag that is under way. */
  private List<Caller> batch = new ArrayList<>();
  private boolean loading;
  private long loadStartedAt;
  private int size;
  /** The largest request: 1 after one that is refused because the tag has fewer IDs left, then twice as many each time. */
  private int most = ClientOptions.MAX_SIZE;
  /** The next load starts when no more IDs than this are buffered. */
  private long lowMark;
  private long loads;
  private long failures;
  private int failuresInRow;
  private LeafException lastError;
  private LeafException refusal;
  private long refusedUntil;
  private LeafException closed;
  private boolean retired;

  /** @param reopen what serves calls instead of this object once it is retired */
  TagIds(String tag, ClientContext context, Function<TagIds, TagIds> reopen) {
    this.tag = tag;
    this.context = context;
    this.reopen = reopen;
    this.policy = context.requester.new Policy(tag);
  }

  /** The next ID; waits for a load if none is buffered. */
  long next() {
    Range range = current;
    long offset = range.take(1);
    if (offset < range.mark) return range.from + offset;
    if (offset >= range.size) return Caller.await(take(1))[0];
    synchronized (this) {
      topUp();
    }
    return range.from + offset;
  }

  /** The next {@code count} IDs; with 0, waits until IDs are buffered. */
  CompletableFuture<long[]> take(int count) {
    Caller caller = new Caller(count);
    boolean moved;
    synchronized (this) {
      moved = retired;
      // A call for more IDs than there are leaves them to others.
      if (closed == null && !moved && !strict && buffered() >= count) fill(caller);
      if (closed == null && !moved && !isServed(caller)) enqueue(caller);
      if (closed != null) caller.answer.completeExceptionally(closed);
      if (!moved) topUp();
      if (callers.contains(caller) || caller.answer.isDone()) return caller.answer;
    }
    if (moved) return reopen.apply(this).take(count);
    caller.serve();
    return caller.answer;
  }

  /** Refuses all calls from now on, and drops the IDs. */
  void close(LeafException reason) {
    List<Caller> waiting;
    synchronized (this) {
      closed = reason;
      dropAll();
      waiting = removeAll(callers);
    }
    for (Caller caller : waiting) caller.refuse(reason);
  }

  /** Ends the use of this object, and returns true, unless IDs or callers would be lost. */
  synchronized boolean retire() {
    retired = !loading && callers.isEmpty() && buffered() == 0;
    return retired;
  }

  synchronized LeafSnapshot.Tag snapshot() {
    return new LeafSnapshot.Tag(tag, buffered(), size, loading, failures);
  }

  private void enqueue(Caller caller) {
    try {
      if (!loading && refusal != null && isRefused()) throw refusal;
      context.enter();
    } catch (LeafException error) {
      caller.answer.completeExceptionally(error);
      return;
    }
    callers.add(caller);
    caller.alarm = context.workers.after(context.options.timeout.toNanos(), () -> expire(caller));
    caller.answer.whenComplete((ids, error) -> {
      if (caller.answer.isCancelled()) forget(caller);
    });
  }

  private void expire(Caller caller) {
    LeafException error;
    synchronized (this) {
      if (!remove(caller)) return;
      error = lastError != null ? lastError : context.late("IDs of " + tag);
    }
    caller.refuse(error);
  }

  /** Its thread was interrupted, or does not wait any more: no IDs are taken for it. */
  private synchronized void forget(Caller caller) {
    remove(caller);
    if (caller.alarm != null) caller.alarm.cancel(false);
  }

  private boolean remove(Caller caller) {
    boolean removed = callers.remove(caller);
    if (removed) context.leave();
    return removed;
  }

  private List<Caller> removeAll(Collection<Caller> some) {
    List<Caller> removed = new ArrayList<>();
    for (Caller caller : new ArrayList<>(some)) if (remove(caller)) removed.add(caller);
    return removed;
  }

  private boolean isServed(Caller caller) {
    return caller.missing() == 0 && (caller.count > 0 || strict || buffered() > 0);
  }

  private boolean isRefused() {
    return context.now() - refusedUntil < 0;
  }

  private void fill(Caller caller) {
    Range first = current;
    while (caller.missing() > 0) {
      Range range = current;
      long offset = range.take(caller.missing());
      long share = Math.min(caller.missing(), range.size - offset);
      if (share > 0) caller.add(range.from + offset, share);
      if (caller.missing() == 0 || queue.isEmpty()) break;
      current = queue.poll();
    }
    // Once: an answer can have ten thousands of ranges.
    if (current != first) mark(current);
  }

  private void advance() {
    Range next = queue.poll();
    mark(next);
    current = next;
  }

  private long buffered() {
    return current.left() + queue.stream().mapToLong(Range::left).sum();
  }

  /** During a load no checks are needed until the range is empty; otherwise they are needed from the low mark on. */
  private void mark(Range range) {
    long queued = queue.stream().mapToLong(Range::left).sum();
    range.mark = loading ? range.size : range.size - Math.max(0, lowMark - queued);
  }

  private void dropAll() {
    current.drop();
    queue.forEach(Range::drop);
    queue.clear();
  }

  /** Starts a load if one is needed, unless one is in progress or was just refused. */
  private void topUp() {
    if (current.left() == 0 && !queue.isEmpty()) advance();
    boolean needed = !callers.isEmpty() || (!strict && buffered() <= lowMark);
    if (!needed || loading || closed != null || (refusal != null && isRefused())) return;
    loading = true;
    mark(current);
    long now = context.now();
    size = nextSize(now - loadStartedAt);
    start(now);
  }

  private void start(long startedAt) {
    boolean started = false;
    try {
      started = context.workers.run(() -> load(startedAt));
    } finally {
      // Without a thread, the next call tries again.
      if (!started) giveUp();
    }
  }

  private synchronized void giveUp() {
    loading = false;
    mark(current);
  }

  private int nextSize(long elapsed) {
    ClientOptions options = context.options;
    long duration = options.segmentDuration.toNanos();
    if (loads < 2) return options.minSize;
    if (elapsed < duration) return (int) Math.min(size * 2L, options.maxSize);
    return elapsed < 2 * duration ? size : Math.max(options.minSize, size / 2);
  }

  private void load(long startedAt) {
    int count = begin();
    if (count == 0) return;
    Answers.Ranges ranges;
    try {
      ranges = ask(count);
    } catch (LeafException error) {
      fail(error, startedAt);
      return;
    } catch (RuntimeException | Error bug) {
      fail(new LeafException("LEAF_INTERNAL", "Fetching IDs of " + tag + " failed in the client.", null, bug), startedAt);
      return;
    }
    accept(ranges, startedAt);
  }

  /** Requests {@code count} IDs; if a tag that is not strict has fewer left, one. */
  private Answers.Ranges ask(int count) {
    try {
      return request(count);
    } catch (LeafException error) {
      if (!error.is("LEAF_TAG_EXHAUSTED")) throw error;
      // It depends on the size of the request: the servers that have refused are asked again.
      policy.releaseAll();
      synchronized (this) {
        if (strict || count == 1) throw error;
        most = 1;
      }
      return request(1);
    }
  }

  private Answers.Ranges request(int count) {
    String path = "/api/segment/range/" + tag + "?size=" + count;
    return context.requester.get(policy, path, body -> read(body, count));
  }

  /** @return the number of IDs to request; 0 if none are needed any more */
  private int begin() {
    List<Caller> served = new ArrayList<>();
    List<Caller> refused = new ArrayList<>();
    LeafException known;
    long count = 0;
    synchronized (this) {
      known = exhausted;
      if (strict) {
        for (count = form(); count > 0 && isExhausted() && count >= tooMany; count = form()) refused.addAll(removeOrDivide());
        if (count == 0) served = removeAll(batch);
      } else {
        long wanted = callers.stream().mapToLong(Caller::missing).sum() - buffered();
        count = Math.min(most, Math.max(size, wanted));
      }
      if (closed != null) count = 0;
      loading = count > 0;
      if (strict) size = (int) count;
    }
    served.forEach(Caller::serve);
    for (Caller caller : refused) caller.refuse(known);
    return (int) count;
  }

  /** Makes a batch of the callers of a strict tag, and returns its number of IDs. */
  private long form() {
    long count = 0;
    batch = new ArrayList<>();
    for (Caller caller : callers) {
      boolean full = count + caller.count > ClientOptions.MAX_SIZE || divided > 0;
      if (full && count > 0) break;
      count += caller.count;
      batch.add(caller);
    }
    divided = Math.max(0, divided - 1);
    return count;
  }

  private boolean isExhausted() {
    return exhausted != null && context.now() - exhaustedUntil < 0;
  }

  /** For a tag with fewer IDs left: the callers of a batch go alone then; returns the caller of a batch for one. */
  private List<Caller> removeOrDivide() {
    if (batch.size() <= 1) return removeAll(batch);
    divided = batch.size();
    return new ArrayList<>();
  }

  private synchronized Answers.Ranges read(Object body, int count) throws ServerFault {
    Answers.Ranges ranges = Answers.ranges(body, tag, count);
    if (strict && ranges.list.size() > 1) throw ServerFault.wrong("the strict tag has more than one range");
    boolean repeated = strict ? ranges.list.get(0).from <= highest : answers.stream().anyMatch(ranges::overlaps);
    if (repeated) throw ServerFault.repeated("IDs of tag \"" + tag + "\"");
    if (answers.size() == MAX_ANSWERS) answers.poll();
    answers.add(ranges);
    return ranges;
  }

  private void accept(Answers.Ranges ranges, long startedAt) {
    List<Caller> served = new ArrayList<>();
    synchronized (this) {
      loads++;
      failuresInRow = 0;
      lastError = refusal = null;
      most = Math.min(ClientOptions.MAX_SIZE, 2 * most);
      loadStartedAt = startedAt;
      loading = false;
      if (strict) {
        highest = ranges.last();
        served = serveBatch(ranges.list.get(0));
      } else if (ranges.strict) {
        // They were not requested for a specific caller.
        strict = true;
        highest = ranges.last();
        dropAll();
        callers.forEach(Caller::clear);
      } else if (closed == null) {
        lowMark = (long) (size * 0.9);
        queue.addAll(ranges.list);
        served = serveInOrder();
        mark(current);
      }
      topUp();
    }
    served.forEach(Caller::serve);
    long count = ranges.list.stream().mapToLong(range -> range.size).sum();
    context.options.events.fire(each -> each.onLoad(tag, count, (context.now() - startedAt) / 1_000_000));
  }

  private List<Caller> serveBatch(Range range) {
    for (Caller caller : batch) caller.add(range.from + range.take(caller.count), caller.count);
    return removeAll(batch);
  }

  private List<Caller> serveInOrder() {
    List<Caller> served = new ArrayList<>();
    if (current.left() == 0) advance();
    long left = buffered();
    for (Caller caller : new ArrayList<>(callers)) {
      int missing = caller.missing();
      if (missing > left) continue;
      fill(caller);
      left -= missing - caller.missing();
      if (isServed(caller) && remove(caller)) served.add(caller);
    }
    return served;
  }

  private void fail(LeafException error, long startedAt) {
    List<Caller> refused = new ArrayList<>();
    boolean reported;
    synchronized (this) {
      failures++;
      reported = error.isRetryable() && closed == null && failuresInRow % 100 == 0;
      failuresInRow++;
      lastError = error;
      // No retry for a tag that never had an ID and has no waiting callers.
      if (error.isRetryable() && closed == null && (loads > 0 || !callers.isEmpty())) {
        context.workers.after(Backoff.millis(failuresInRow, 25, 1000) * 1_000_000,
            () -> start(startedAt));
      } else {
        loading = false;
        if (strict && error.is("LEAF_TAG_EXHAUSTED")) {
          tooMany = isExhausted() ? Math.min(tooMany, size) : size;
          exhausted = error;
          exhaustedUntil = context.now() + REFUSAL_NANOS;
          refused = removeOrDivide();
        } else if (strict) refused = removeAll(batch);
        else if (!error.isRetryable()) {
          refused = removeAll(callers);
          refusal = error;
          refusedUntil = context.now() + REFUSAL_NANOS;
        }
        mark(current);
        if (!callers.isEmpty()) topUp();
      }
    }
    for (Caller caller : refused) caller.refuse(error);
    if (reported) context.options.events.fire(each -> each.onLoadFailed(tag, error));
  }
}
