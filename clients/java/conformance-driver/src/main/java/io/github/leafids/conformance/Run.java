package io.github.leafids.conformance;

import com.eclipsesource.json.Json;
import com.eclipsesource.json.JsonArray;
import com.eclipsesource.json.JsonObject;
import io.github.leafids.LeafException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/** The command {@code run}: calls in a loop, and joins consecutive IDs. */
final class Run {
  /** Calls between two looks at the clock. */
  private static final int CHUNK = 64;

  private final LongSupplier call;
  private final boolean record;
  private final long limit;
  private final long nanos;
  private final JsonArray runs = new JsonArray();
  private final Map<String, Integer> refused = new TreeMap<>();
  private long first;
  private long length;
  private long count;

  Run(LongSupplier call, JsonObject command) {
    this.call = call;
    record = command.getBoolean("record", true);
    limit = command.getLong("limit", Long.MAX_VALUE);
    nanos = TimeUnit.MILLISECONDS.toNanos(command.getLong("ms", 1000));
  }

  void execute(JsonObject answer) {
    long start = System.nanoTime();
    while (count < limit && System.nanoTime() - start < nanos) {
      try {
        for (long end = Math.min(limit, count + CHUNK); count < end; count++) {
          long id = call.getAsLong();
          if (record) join(id);
        }
      } catch (LeafException error) {
        refused.merge(error.code(), 1, Integer::sum);
        LockSupport.parkNanos(1_000_000);
      }
    }
    long ns = System.nanoTime() - start;
    if (record) flush();
    JsonObject refusals = Json.object();
    refused.forEach(refusals::add);
    answer.add("count", count).add("ns", ns);
    if (record) answer.add("runs", runs);
    answer.add("refused", refusals);
  }

  private void join(long id) {
    if (length == 0 || id != first + length) {
      flush();
      first = id;
    }
    length++;
  }

  private void flush() {
    if (length > 0) runs.add(Json.array().add(Long.toString(first)).add(length));
    length = 0;
  }
}
