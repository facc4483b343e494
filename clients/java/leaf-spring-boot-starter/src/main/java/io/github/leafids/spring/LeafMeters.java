package io.github.leafids.spring;

import io.github.leafids.LeafClient;
import io.github.leafids.LeafSnapshot;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Meters of a client, read from its snapshot. */
public class LeafMeters implements MeterBinder {
  private final LeafClient client;

  public LeafMeters(LeafClient client) {
    this.client = client;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    Set<String> known = ConcurrentHashMap.newKeySet();
    // A tag is known from its first call on: its meter is added when the number of tags is read.
    Gauge.builder("leaf.client.tags", client, c -> {
      c.snapshot().tags().stream().map(LeafSnapshot.Tag::name).filter(known::add).forEach(tag -> bindTag(registry, tag));
      return known.size();
    }).description("Tags in use").register(registry);
    Gauge.builder("leaf.client.waiting", client, c -> c.snapshot().waiting())
        .description("Calls that wait for IDs").register(registry);
    for (LeafSnapshot.Server server : client.snapshot().servers()) {
      String url = server.url();
      Gauge.builder("leaf.client.server.serving", client, c -> server(c, url).state().equals("serving") ? 1 : 0)
          .tag("server", url).description("1 while the server gets requests").register(registry);
      FunctionCounter.builder("leaf.client.server.failures", client, c -> server(c, url).failures())
          .tag("server", url).description("Failed requests").register(registry);
    }
    Gauge.builder("leaf.client.window.remaining", client, c -> c.snapshot().window()
            .map(window -> Math.max(0, window.until() - System.currentTimeMillis()) / 1000.0).orElse(Double.NaN))
        .baseUnit("seconds").description("Time for which snowflake IDs can be issued without a server")
        .register(registry);
  }

  private void bindTag(MeterRegistry registry, String name) {
    Gauge.builder("leaf.client.buffered", client, c -> c.snapshot().tags().stream()
            .filter(tag -> tag.name().equals(name)).mapToLong(LeafSnapshot.Tag::buffered).sum())
        .tag("tag", name).description("IDs that are available without waiting").register(registry);
  }

  private static LeafSnapshot.Server server(LeafClient client, String url) {
    return client.snapshot().servers().stream().filter(server -> server.url().equals(url)).findFirst().get();
  }
}
