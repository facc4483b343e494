package io.github.leafids;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

/** Numbers of tags that restart in each period: one request per call. */
final class Periods {
  /** The least recently used tags are forgotten. */
  private static final int MAX_TAGS = 10_000;
  private static final int MAX_ANSWERS = 32;

  private final ClientContext context;
  private final Map<String, Tag> tags = new LinkedHashMap<String, Tag>(16, 0.75f, true) {
    private static final long serialVersionUID = 1L;

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, Tag> eldest) {
      return size() > MAX_TAGS;
    }
  };

  Periods(ClientContext context) {
    this.context = context;
  }

  private final class Tag {
    final Requester.Policy policy;
    final ArrayDeque<PeriodNumber> answers = new ArrayDeque<>();

    Tag(String name) {
      policy = context.requester.new Policy(name);
    }

    synchronized PeriodNumber fresh(PeriodNumber answer) throws ServerFault {
      if (answers.contains(answer)) throw ServerFault.repeated("the number " + answer.number() + " of " + answer.period());
      if (answers.size() == MAX_ANSWERS) answers.poll();
      answers.add(answer);
      return answer;
    }
  }

  /** @param at null for the current period */
  PeriodNumber take(String name, Instant at) {
    Tag tag;
    synchronized (tags) {
      tag = tags.computeIfAbsent(name, Tag::new);
    }
    String path = "/api/segment/period/" + name + "?size=1" + (at == null ? "" : "&at=" + at);
    CompletableFuture<PeriodNumber> answer = new CompletableFuture<>();
    context.enter();
    Future<?> alarm = context.workers.after(context.options.timeout.toNanos(),
        () -> answer.completeExceptionally(context.late("numbers of " + name)));
    try {
      boolean running = context.workers.run(() -> {
        // The call has ended before its request was sent: the number would be lost.
        if (answer.isDone()) return;
        try {
          answer.complete(context.requester.get(tag.policy, path, body -> tag.fresh(Answers.period(body, name))));
        } catch (RuntimeException | Error error) {
          answer.completeExceptionally(error);
        }
      });
      if (!running) throw ClientContext.closed();
      return Caller.await(answer);
    } finally {
      answer.cancel(false);
      if (alarm != null) alarm.cancel(false);
      context.leave();
    }
  }
}
