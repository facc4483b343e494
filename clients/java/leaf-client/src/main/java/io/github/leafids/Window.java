package io.github.leafids;

import java.util.Map;

/** The window of one answer: the right to issue IDs as one worker with timestamps from {@code from} to {@code until}. */
final class Window {
  final int workerId;
  /** Unix milliseconds, as {@code until} and {@code now}. */
  final long from;
  final long until;
  /** The clock of the server. */
  final long now;
  final BitLayout layout;

  private Window(int workerId, long from, long until, long now, BitLayout layout) {
    this.workerId = workerId;
    this.from = from;
    this.until = until;
    this.now = now;
    this.layout = layout;
  }

  /** @throws ServerFault unless the window belongs to the lease and is complete */
  static Window read(Object body, String lease) throws ServerFault {
    Map<?, ?> answer = Answers.object(body);
    if (!lease.equals(answer.get("lease"))) throw ServerFault.wrong("its window belongs to another lease");
    Map<?, ?> bits = Answers.object(answer.get("layout"));
    BitLayout layout;
    try {
      layout = new BitLayout(small(bits, "timeBits"), small(bits, "workerBits"), small(bits, "sequenceBits"),
          Answers.whole(bits, "epoch"));
    } catch (LeafException e) {
      throw new ServerFault("invalid response: its layout is invalid", -1, e);
    }
    int workerId = small(answer, "workerId");
    if (workerId > layout.maxWorkerId()) throw ServerFault.wrong("worker ID " + workerId + " does not fit the layout");
    return new Window(workerId, Answers.whole(answer, "from"), Answers.whole(answer, "until"),
        Answers.whole(answer, "now"), layout);
  }

  private static int small(Map<?, ?> object, String name) throws ServerFault {
    return (int) Math.min(Integer.MAX_VALUE, Answers.whole(object, name));
  }
}
