package io.github.leafids;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;

/** The requests under one lease. Each can be repeated: the server then returns the same window. */
final class Lease {
  private static final int MARKS = 1000;

  private final String lease;
  private final ClientContext context;
  /** One server while it responds: it registers the window again if the registry loses its history. */
  private final Requester.Policy policy;
  /** What {@link #tell} adds: {@code until} of the newest answer; -1 before the first. */
  private long known = -1;
  /** That of the extension without an answer; -1 after an answer. */
  private long mark = -1;

  Lease(ClientContext context) {
    this.context = context;
    lease = secret(context.options.clock);
    policy = context.requester.new Policy(lease);
  }

  /** @throws LeafException the refusal of the servers, or {@code LEAF_SERVERS_UNAVAILABLE}, as all of these methods */
  Window acquire() {
    ClientOptions options = context.options;
    String body = "{\"lease\":\"" + lease + "\",\"holder\":" + Json.quote(options.holder) + ",\"windowMs\":"
        + options.window.toMillis() + "}";
    Window window = context.requester.send(policy, "POST", "/api/workers", body, answer -> Window.read(answer, lease));
    known = window.until;
    return window;
  }

  Window extend(Window held) {
    if (known >= 0 && mark < 0) mark = newMark();
    String body = "\"windowMs\":" + context.options.window.toMillis() + ",\"workerId\":" + held.workerId;
    Window window = tell("PUT", body, answer -> {
      Window extended = Window.read(answer, lease);
      if (extended.workerId == held.workerId && extended.from == held.from) return extended;
      throw ServerFault.wrong("it is not the window that was to be extended");
    });
    known = window.until;
    mark = -1;
    return window;
  }

  /** @param lastTimestamp Unix milliseconds of the newest ID; at most {@code from - 1} if there is none */
  void release(long lastTimestamp) {
    tell("DELETE", "\"lastTimestamp\":" + lastTimestamp, answer -> null);
  }

  /** Tells what this process knows, which a server of an earlier version refuses. */
  private <T> T tell(String method, String body, Requester.Reader<T> reader) {
    String path = "/api/workers/" + lease;
    String progress = (known < 0 ? "" : ",\"known\":" + known) + (mark < 0 ? "" : ",\"mark\":" + mark);
    try {
      return context.requester.send(policy, method, path, "{" + body + progress + "}", reader);
    } catch (LeafException error) {
      if (progress.isEmpty() || !error.is("LEAF_BODY_INVALID")) throw error;
      known = mark = -1;
      return context.requester.send(policy, method, path, "{" + body + "}", reader);
    }
  }

  /** Copies of a process can draw the same numbers, but not within the same 100 ns. */
  private static long newMark() {
    return (new SecureRandom().nextInt(MARKS) + Math.abs(System.nanoTime() / 100)) % MARKS;
  }

  /** 32 hexadecimal digits: random, and the time, which differs in copies of a process. */
  private static String secret(LeafClock clock) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      byte[] random = new byte[16];
      new SecureRandom().nextBytes(random);
      digest.update(random);
      digest.update((clock.wallMillis() + " " + System.nanoTime()).getBytes(StandardCharsets.US_ASCII));
      return String.format("%064x", new java.math.BigInteger(1, digest.digest())).substring(0, 32);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
