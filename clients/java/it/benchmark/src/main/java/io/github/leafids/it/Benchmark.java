package io.github.leafids.it;

import com.baomidou.mybatisplus.core.incrementer.DefaultIdentifierGenerator;
import com.baomidou.mybatisplus.core.incrementer.IdentifierGenerator;
import io.github.leafids.LeafClient;
import io.github.leafids.mybatisplus.LeafIdentifierGenerator;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * The generator of MyBatis-Plus beside that of Leaf, in turns, in one thread. Arguments: URL of a Leaf server, token.
 */
public final class Benchmark {
  private static final int ROUNDS = 7;
  private static final int BURST = 1000;
  private static final int BURSTS = 1000;
  private static long sink;

  public static void main(String[] args) {
    try (LeafClient client = LeafClient.builder().servers(args[0]).workerToken(args[1]).preloadSnowflake().build()) {
      client.ready();
      IdentifierGenerator theirs = new DefaultIdentifierGenerator(1, 1);
      IdentifierGenerator ours = new LeafIdentifierGenerator(client);
      Map<String, LongSupplier> generators = new LinkedHashMap<>();
      generators.put("DefaultIdentifierGenerator.nextId", () -> theirs.nextId(null).longValue());
      generators.put("LeafIdentifierGenerator.nextId", () -> ours.nextId(null).longValue());
      generators.put("LeafClient.snowflake", client::snowflake);
      Map<String, List<double[]>> results = new LinkedHashMap<>();
      for (int round = 0; round <= ROUNDS; round++) {
        for (Map.Entry<String, LongSupplier> generator : generators.entrySet()) {
          double[] result = {burstNanos(generator.getValue()), perSecond(generator.getValue())};
          // The first round warms up.
          if (round > 0) results.computeIfAbsent(generator.getKey(), key -> new ArrayList<>()).add(result);
        }
      }
      System.out.printf("median of %d rounds; the layout allows 4,096 IDs in a millisecond%n", ROUNDS);
      results.forEach((name, all) -> System.out.printf("%-36s %6.1f ns per call in bursts of %,d; %,.0f IDs/s%n",
          name, median(all, 0), BURST, median(all, 1)));
    }
    if (sink == 0) throw new AssertionError();
  }

  /** Time of one call in bursts that fit into a millisecond, so that no call waits for the next one. */
  private static double burstNanos(LongSupplier ids) {
    long nanos = 0;
    for (int burst = 0; burst < BURSTS; burst++) {
      for (long now = System.currentTimeMillis(); System.currentTimeMillis() <= now + 1; ) Thread.onSpinWait();
      long start = System.nanoTime();
      for (int i = 0; i < BURST; i++) sink ^= ids.getAsLong();
      nanos += System.nanoTime() - start;
    }
    return (double) nanos / BURST / BURSTS;
  }

  private static double perSecond(LongSupplier ids) {
    long start = System.nanoTime();
    int calls = 4_000_000;
    for (int i = 0; i < calls; i++) sink ^= ids.getAsLong();
    return calls * 1e9 / (System.nanoTime() - start);
  }

  private static double median(List<double[]> results, int index) {
    double[] sorted = results.stream().mapToDouble(result -> result[index]).sorted().toArray();
    return sorted[sorted.length / 2];
  }
}
