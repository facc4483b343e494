package io.github.leafids.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.leafids.LeafClient;
import io.github.leafids.LeafException;
import io.github.leafids.spring.LeafClientBuilderCustomizer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

class StarterTest {
  private static LeafServer server;

  @BeforeAll
  static void start() throws Exception {
    server = new LeafServer();
  }

  @AfterAll
  static void stop() throws Exception {
    server.close();
  }

  @Test
  void one_property_gives_a_client_that_is_closed_with_the_context() {
    LeafClient client;
    try (ConfigurableApplicationContext context = DemoApplication.run(server)) {
      client = context.getBean(LeafClient.class);
      long first = client.next("order");
      assertTrue(client.next("order") > first);
    }
    assertEquals("LEAF_NOT_READY", assertThrows(LeafException.class, () -> client.next("order")).code());
  }

  @Test
  void without_servers_there_is_no_client() {
    String[] properties = {"leaf.mybatis-plus.enabled=false"};
    try (ConfigurableApplicationContext context = DemoApplication.run(WebApplicationType.NONE, properties)) {
      assertEquals(0, context.getBeanNamesForType(LeafClient.class).length);
    }
  }

  @Test
  void properties_become_options() throws Exception {
    String[] properties = {"leaf.servers[0].url=" + server.url, "leaf.servers[0].zone=a", "leaf.servers[1].url=http://127.0.0.1:9",
        "leaf.servers[1].zone=b", "leaf.zone=a", "leaf.window.token=" + LeafServer.TOKEN, "leaf.window.holder=holder-of-the-test",
        "leaf.window.duration=20s", "leaf.segment.min-size=7", "leaf.preload.tags=order", "leaf.preload.snowflake=true"};
    try (ConfigurableApplicationContext context = DemoApplication.run(WebApplicationType.NONE, properties)) {
      LeafClient client = context.getBean(LeafClient.class);
      assertEquals("b", client.snapshot().servers().get(1).zone().get());
      assertEquals(7, client.snapshot().tags().get(0).buffered());
      assertTrue(client.snapshot().window().isPresent());
      assertTrue(server.get("/api/workers").contains("holder-of-the-test"));
    }
  }

  @Test
  void a_customizer_sets_options_without_a_property() {
    try (ConfigurableApplicationContext context =
        DemoApplication.run(WebApplicationType.NONE, DemoApplication.with(server), Preloaded.class)) {
      assertEquals(100, context.getBean(LeafClient.class).snapshot().tags().get(0).buffered());
    }
  }

  @Test
  void invalid_options_stop_the_application() {
    RuntimeException error = assertThrows(RuntimeException.class,
        () -> DemoApplication.run(WebApplicationType.NONE, new String[] {"leaf.servers=ftp://host"}));
    Throwable cause = error;
    while (cause.getCause() != null) cause = cause.getCause();
    assertEquals("LEAF_CONFIG_INVALID", ((LeafException) cause).code());
  }

  @Test
  void health_and_metrics_follow_the_servers() throws Exception {
    LeafServer failing = new LeafServer();
    String[] properties = DemoApplication.with(failing, "leaf.preload.tags=order", "leaf.timeout=2s", "leaf.request-timeout=1s");
    try (ConfigurableApplicationContext context = DemoApplication.run(WebApplicationType.SERVLET, properties)) {
      assertTrue(get(context, "/actuator/metrics/leaf.client.tags").contains("\"value\":1.0"));
      assertTrue(get(context, "/actuator/metrics/leaf.client.buffered?tag=tag:order").contains("\"value\":100.0"));
      assertTrue(get(context, "/actuator/metrics/leaf.client.server.serving").contains("\"value\":1.0"));
      assertTrue(get(context, "/actuator/metrics/leaf.client.window.remaining").contains("seconds"));
      String up = get(context, "/actuator/health/leaf");
      assertTrue(up.contains("\"status\":\"UP\"") && up.contains("workerId") && up.contains("serving"), up);
      failing.close();
      LeafClient client = context.getBean(LeafClient.class);
      assertThrows(LeafException.class, () -> {
        for (;;) client.next("order");
      });
      String down = get(context, "/actuator/health/leaf");
      // Between two tries the server is "ejected", then "probation".
      assertTrue(down.contains("\"status\":\"DOWN\"") && down.contains("no response") && !down.contains("serving"), down);
    }
  }

  private static String get(ConfigurableApplicationContext context, String path) throws IOException, InterruptedException {
    String url = "http://127.0.0.1:" + context.getEnvironment().getProperty("local.server.port") + path;
    return HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(url)).build(),
        HttpResponse.BodyHandlers.ofString()).body();
  }

  static class Preloaded {
    @Bean
    LeafClientBuilderCustomizer preloaded() {
      return builder -> builder.preload("order");
    }
  }
}
