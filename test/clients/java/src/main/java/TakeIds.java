import java.util.Collections;
import java.util.List;
import java.util.ArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/** Takes IDs with several threads at once, retries after errors, and prints the IDs. */
final class TakeIds {
    private static final int THREADS = 16;
    private static final int RETRY_MS = 50;

    private final LongSupplier incr;
    private final int count;
    private final AtomicInteger started = new AtomicInteger();
    private final List<Long> ids = Collections.synchronizedList(new ArrayList<>());

    private TakeIds(LongSupplier incr, int count) {
        this.incr = incr;
        this.count = count;
    }

    static void run(LongSupplier incr, int count) throws InterruptedException {
        TakeIds take = new TakeIds(incr, count);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        for (int n = 0; n < THREADS; n++) threads.submit(take::loop);
        threads.shutdown();
        threads.awaitTermination(10, TimeUnit.MINUTES);
        StringBuilder lines = new StringBuilder();
        for (long id : take.ids) lines.append(id).append('\n');
        System.out.print(lines);
        System.out.flush();
    }

    private Void loop() throws InterruptedException {
        int place;
        while ((place = started.getAndIncrement()) < count) {
            if (place == count / 2) System.err.println("half");
            ids.add(take());
        }
        return null;
    }

    private long take() throws InterruptedException {
        while (true) {
            try {
                return incr.getAsLong();
            } catch (RuntimeException lost) {
                Thread.sleep(RETRY_MS);
            }
        }
    }
}
