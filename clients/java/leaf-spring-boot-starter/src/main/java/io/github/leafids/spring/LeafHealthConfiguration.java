package io.github.leafids.spring;

import io.github.leafids.LeafClient;
import io.github.leafids.LeafSnapshot;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The health indicator {@code leaf}: once for each package of the health API. */
final class LeafHealthConfiguration {
  private LeafHealthConfiguration() {}

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
  @ConditionalOnEnabledHealthIndicator("leaf")
  static class Boot2And3 {
    @Bean
    HealthIndicator leafHealthIndicator(LeafClient client) {
      return () -> {
        LeafSnapshot now = client.snapshot();
        return new Health.Builder(isUp(now) ? Status.UP : Status.DOWN, details(now)).build();
      };
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator.class)
  @org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator("leaf")
  static class Boot4 {
    @Bean
    org.springframework.boot.health.contributor.HealthIndicator leafHealthIndicator(LeafClient client) {
      return () -> {
        LeafSnapshot now = client.snapshot();
        return new org.springframework.boot.health.contributor.Health.Builder(
            isUp(now) ? org.springframework.boot.health.contributor.Status.UP
                : org.springframework.boot.health.contributor.Status.DOWN,
            details(now)).build();
      };
    }
  }

  /** During an outage of all servers, the client is up while each tag has buffered IDs and the window lasts. */
  private static boolean isUp(LeafSnapshot now) {
    boolean reachable = now.servers().stream().anyMatch(server -> server.state().equals("serving"));
    boolean inUse = !now.tags().isEmpty() || now.window().isPresent();
    boolean bridged = inUse && now.tags().stream().allMatch(tag -> tag.buffered() > 0);
    boolean expired = now.window().filter(window -> window.until() < System.currentTimeMillis()).isPresent();
    return !expired && (reachable || bridged);
  }

  private static Map<String, Object> details(LeafSnapshot now) {
    Map<String, Object> servers = new LinkedHashMap<>();
    now.servers().forEach(server -> servers.put(server.url(),
        server.state() + server.lastError().map(error -> ": " + error).orElse("")));
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("servers", servers);
    details.put("waiting", now.waiting());
    now.window().ifPresent(window -> details.put("workerId", window.workerId()));
    return details;
  }
}
