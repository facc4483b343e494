package io.github.leafids.it;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A Leaf server of the build in dist/, with the tag "order". */
public final class LeafServer implements AutoCloseable {
  public static final String TOKEN = "0123456789abcdef0123456789abcdef";
  private static final String ADMIN_TOKEN = "fedcba9876543210fedcba9876543210";
  private static final Pattern PORT = Pattern.compile("Listening on \\S*:(\\d+)");
  private final HttpClient http = HttpClient.newHttpClient();
  private final Path data = Files.createTempDirectory("leaf-it");
  private final Process process;
  public final String url;

  public LeafServer() throws IOException, InterruptedException {
    Path main = Paths.get("../../../../dist/apps/leaf-server/src/main.js").toAbsolutePath().normalize();
    ProcessBuilder command = new ProcessBuilder("node", main.toString()).directory(data.toFile()).redirectErrorStream(true);
    command.environment().put("LEAF_HOST", "127.0.0.1");
    command.environment().put("LEAF_PORT", "0");
    command.environment().put("LEAF_ADVERTISE_HOST", "127.0.0.1");
    command.environment().put("LEAF_SHUTDOWN_DRAIN_MS", "0");
    command.environment().put("LEAF_ADMIN_TOKEN", ADMIN_TOKEN);
    command.environment().put("LEAF_WORKER_TOKENS", "it:" + TOKEN);
    process = command.start();
    url = "http://127.0.0.1:" + port();
    HttpResponse<String> created = http.send(request("/api/tags").header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString("{\"tag\":\"order\"}")).build(), HttpResponse.BodyHandlers.ofString());
    if (created.statusCode() != 201) throw new IllegalStateException(created.body());
  }

  public String get(String path) throws IOException, InterruptedException {
    return http.send(request(path).build(), HttpResponse.BodyHandlers.ofString()).body();
  }

  @Override
  public void close() throws IOException, InterruptedException {
    process.destroy();
    process.waitFor();
    try (Stream<Path> files = Files.walk(data)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).collect(Collectors.toList())) Files.delete(file);
    }
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(url + path)).header("Authorization", "Bearer " + ADMIN_TOKEN);
  }

  private String port() throws IOException {
    BufferedReader log = new BufferedReader(new InputStreamReader(process.getInputStream()));
    StringBuilder all = new StringBuilder();
    for (String line = log.readLine(); line != null; line = log.readLine()) {
      all.append(line).append('\n');
      Matcher match = PORT.matcher(line);
      if (match.find()) {
        drain(log);
        return match.group(1);
      }
    }
    throw new IllegalStateException("The server did not start:\n" + all);
  }

  /** Reads the rest, so that the server never waits for the test. */
  private static void drain(BufferedReader log) {
    Thread rest = new Thread(() -> {
      try {
        while (log.readLine() != null) {}
      } catch (IOException closed) {
        // close() has ended the server.
      }
    });
    rest.setDaemon(true);
    rest.start();
  }
}
