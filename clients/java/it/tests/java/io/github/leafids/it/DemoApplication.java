package io.github.leafids.it;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

@SpringBootApplication
public class DemoApplication {
  /** Starts the application with these properties and, after them, more configuration classes. */
  static ConfigurableApplicationContext run(WebApplicationType web, String[] properties, Class<?>... more) {
    SpringApplicationBuilder builder = new SpringApplicationBuilder(DemoApplication.class).sources(more).web(web);
    String[] args = new String[properties.length];
    for (int i = 0; i < args.length; i++) args[i] = "--" + properties[i];
    return builder.run(args);
  }

  static ConfigurableApplicationContext run(LeafServer server) {
    return run(WebApplicationType.NONE, with(server));
  }

  static String[] with(LeafServer server, String... more) {
    String[] all = new String[more.length + 2];
    all[0] = "leaf.servers=" + server.url;
    all[1] = "leaf.token=" + LeafServer.TOKEN;
    System.arraycopy(more, 0, all, 2, more.length);
    return all;
  }
}
