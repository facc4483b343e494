package io.github.leafids.spring;

import io.github.leafids.LeafClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.springframework.boot.context.properties.ConfigurationProperties;

/** The options of {@link LeafClient}. A property that is left out has the default of the client. */
@ConfigurationProperties("leaf")
public class LeafProperties {
  /**
   * Leaf servers: URLs separated by commas, or a list of url and zone.
   */
  private List<Server> servers = new ArrayList<>();
  /**
   * Zone of this application. Servers of other zones are used only if none of these can serve.
   */
  private String zone;
  /**
   * Token of LEAF_CLIENT_TOKENS.
   */
  private String token;
  /**
   * Maximum duration of a call; 5s by default.
   */
  private Duration timeout;
  /**
   * Maximum duration of one request to one server; 1500ms by default.
   */
  private Duration requestTimeout;
  /**
   * Maximum number of concurrent requests; 32 by default.
   */
  private Integer maxRequests;
  /**
   * Maximum number of waiting calls; 10000 by default.
   */
  private Integer maxWaiting;
  private final Segment segment = new Segment();
  private final Window window = new Window();
  private final Preload preload = new Preload();

  public List<Server> getServers() { return servers; }
  public void setServers(List<Server> servers) { this.servers = servers; }
  public String getZone() { return zone; }
  public void setZone(String zone) { this.zone = zone; }
  public String getToken() { return token; }
  public void setToken(String token) { this.token = token; }
  public Duration getTimeout() { return timeout; }
  public void setTimeout(Duration timeout) { this.timeout = timeout; }
  public Duration getRequestTimeout() { return requestTimeout; }
  public void setRequestTimeout(Duration requestTimeout) { this.requestTimeout = requestTimeout; }
  public Integer getMaxRequests() { return maxRequests; }
  public void setMaxRequests(Integer maxRequests) { this.maxRequests = maxRequests; }
  public Integer getMaxWaiting() { return maxWaiting; }
  public void setMaxWaiting(Integer maxWaiting) { this.maxWaiting = maxWaiting; }
  public Segment getSegment() { return segment; }
  public Window getWindow() { return window; }
  public Preload getPreload() { return preload; }

  LeafClient.Builder builder() {
    LeafClient.Builder builder = LeafClient.builder();
    servers.forEach(server -> builder.server(server.url, server.zone));
    set(zone, builder::zone);
    set(token, builder::token);
    set(timeout, builder::timeout);
    set(requestTimeout, builder::requestTimeout);
    set(maxRequests, builder::maxRequests);
    set(maxWaiting, builder::maxWaiting);
    builder.segment(segment.minSize, segment.maxSize, segment.duration);
    set(window.duration, builder::window);
    set(window.holder, builder::holder);
    set(window.token, builder::workerToken);
    builder.preload(preload.tags.toArray(new String[0]));
    if (preload.snowflake) builder.preloadSnowflake();
    return builder;
  }

  private static <T> void set(T value, Consumer<T> option) {
    if (value != null) option.accept(value);
  }

  /** One server; text alone is its URL. */
  public static class Server {
    /**
     * Base URL of the server.
     */
    private String url;
    /**
     * Zone of the server.
     */
    private String zone;

    public Server() {}

    public Server(String url) {
      this.url = url;
    }

    public String getUrl() { return url; }
    public void setUrl(String url) { this.url = url; }
    public String getZone() { return zone; }
    public void setZone(String zone) { this.zone = zone; }
  }

  /** Prefetch of each tag. */
  public static class Segment {
    /**
     * Size of the first two requests for a tag, and minimum size.
     */
    private int minSize = 100;
    /**
     * Maximum size of a request.
     */
    private int maxSize = 1_000_000;
    /**
     * How long the IDs of one request should last.
     */
    private Duration duration = Duration.ofSeconds(10);

    public int getMinSize() { return minSize; }
    public void setMinSize(int minSize) { this.minSize = minSize; }
    public int getMaxSize() { return maxSize; }
    public void setMaxSize(int maxSize) { this.maxSize = maxSize; }
    public Duration getDuration() { return duration; }
    public void setDuration(Duration duration) { this.duration = duration; }
  }

  /** The worker window of snowflake IDs. */
  public static class Window {
    /**
     * How long the client issues snowflake IDs without an answer of a server; 60s by default.
     */
    private Duration duration;
    /**
     * Name of this process in the list of workers; the host name by default.
     */
    private String holder;
    /**
     * Token of LEAF_WORKER_TOKENS; leaf.token by default.
     */
    private String token;

    public Duration getDuration() { return duration; }
    public void setDuration(Duration duration) { this.duration = duration; }
    public String getHolder() { return holder; }
    public void setHolder(String holder) { this.holder = holder; }
    public String getToken() { return token; }
    public void setToken(String token) { this.token = token; }
  }

  /** IDs that are fetched at the start, before the application serves requests. */
  public static class Preload {
    /**
     * Tags to prefetch.
     */
    private List<String> tags = new ArrayList<>();
    /**
     * Whether to acquire the worker ID of snowflake IDs.
     */
    private boolean snowflake;

    public List<String> getTags() { return tags; }
    public void setTags(List<String> tags) { this.tags = tags; }
    public boolean isSnowflake() { return snowflake; }
    public void setSnowflake(boolean snowflake) { this.snowflake = snowflake; }
  }
}
