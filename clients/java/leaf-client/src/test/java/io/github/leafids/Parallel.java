package io.github.leafids;

import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;

/** The same work in several threads that start at the same time. */
final class Parallel {
  private Parallel() {}

  /** @return all results, ascending */
  static long[] sorted(int threads, Callable<long[]> work) throws Exception {
    CyclicBarrier start = new CyclicBarrier(threads);
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      Future<?>[] results = new Future<?>[threads];
      for (int i = 0; i < threads; i++) {
        results[i] = pool.submit(() -> {
          start.await();
          return work.call();
        });
      }
      LongStream all = LongStream.empty();
      for (Future<?> result : results) all = LongStream.concat(all, Arrays.stream((long[]) result.get()));
      return all.sorted().toArray();
    } finally {
      pool.shutdownNow();
    }
  }

  static long distinct(long[] sorted) {
    return Arrays.stream(sorted).distinct().count();
  }
}
