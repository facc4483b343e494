package io.github.leafids;

import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** The options of a client with their defaults; not changed after {@link #validated}. */
final class ClientOptions {
  static final int MAX_SIZE = 1_000_000;
  private static final Pattern TAG = Pattern.compile("(?!\\.{1,2}$)[A-Za-z0-9_.:-]{1,128}");
  private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~+/-]+=*");

  /** URLs with their zones; a zone can be null. */
  final Map<String, String> servers = new LinkedHashMap<>();
  final List<String> preload = new ArrayList<>();
  final List<String> faults = new ArrayList<>();
  String zone;
  Supplier<String> token;
  Duration timeout = Duration.ofSeconds(5);
  Duration requestTimeout = Duration.ofMillis(1500);
  int maxRequests = 32;
  int maxWaiting = 10_000;
  int minSize = 100;
  int maxSize = MAX_SIZE;
  Duration segmentDuration = Duration.ofSeconds(10);
  int ejectionFailures = 2;
  Duration ejectionFirst = Duration.ofMillis(250);
  Duration ejectionMax = Duration.ofSeconds(10);
  Duration window = Duration.ofSeconds(60);
  String holder;
  Supplier<String> workerToken;
  BitLayout layout;
  boolean preloadSnowflake;
  LeafClock clock = LeafClock.system();
  Events events = new Events(new LeafListener() {});

  void server(String url, String zone) {
    if (servers.containsKey(url)) faults.add("servers must contain each server only once");
    servers.put(url, zone);
  }

  Supplier<String> fixed(String name, String token) {
    if (token == null) return null;
    check(TOKEN.matcher(token).matches(), name + " contains characters that a header cannot carry");
    return () -> token;
  }

  static boolean isTag(String tag) {
    return tag != null && TAG.matcher(tag).matches();
  }

  static String quoted(String tag) {
    return tag == null ? "null" : '"' + (tag.length() > 40 ? tag.substring(0, 40) + "..." : tag) + '"';
  }

  /** @throws LeafException {@code LEAF_CONFIG_INVALID} that lists all faults */
  ClientOptions validated() {
    check(!servers.isEmpty(), "servers must contain at least one server");
    servers.keySet().forEach(this::checkUrl);
    checkTime("timeout", timeout, 1, Integer.MAX_VALUE);
    checkTime("requestTimeout", requestTimeout, 1, Integer.MAX_VALUE);
    checkNumber("maxRequests", maxRequests, 10_000);
    checkNumber("maxWaiting", maxWaiting, 1_000_000);
    checkNumber("segment.minSize", minSize, MAX_SIZE);
    checkNumber("segment.maxSize", maxSize, MAX_SIZE);
    check(maxSize >= minSize, "segment.maxSize must not be less than segment.minSize");
    checkTime("segment.duration", segmentDuration, 1, Integer.MAX_VALUE);
    checkNumber("ejection.failures", ejectionFailures, 1000);
    checkTime("ejection.first", ejectionFirst, 1, Integer.MAX_VALUE);
    checkTime("ejection.max", ejectionMax, 1, Integer.MAX_VALUE);
    check(ejectionMax.compareTo(ejectionFirst) >= 0, "ejection.max must not be less than ejection.first");
    checkTime("window", window, 10_000, 86_400_000);
    if (holder == null) holder = hostName();
    check(holder.matches("\\P{C}{1,127}"), "holder must be 1 to 127 printable characters");
    for (String tag : preload) check(isTag(tag), "preload: " + quoted(tag) + " is not a valid tag");
    check(clock != null, "clock must not be null");
    if (workerToken == null) workerToken = token;
    if (faults.isEmpty()) return this;
    throw new LeafException("LEAF_CONFIG_INVALID", "Invalid options of LeafClient: " + String.join("; ", faults) + ".");
  }

  private void checkUrl(String text) {
    try {
      URI url = new URI(text);
      // The text is not repeated: it can contain a password.
      check(url.getHost() != null && String.valueOf(url.getScheme()).matches("(?i)https?") && url.getPort() <= 65_535,
          url.getHost() == null ? "servers must contain only http or https URLs"
              : "servers: " + url.getScheme() + "://" + url.getHost() + " is not an http or https URL");
      check(url.getRawUserInfo() == null && url.getRawQuery() == null && url.getRawFragment() == null,
          "servers: " + url.getHost() + " must have no user, password, query or fragment");
    } catch (java.net.URISyntaxException e) {
      faults.add("servers must contain only http or https URLs");
    }
  }

  private void checkTime(String name, Duration value, long low, long high) {
    long millis = value == null ? -1 : value.compareTo(Duration.ofMillis(high)) > 0 ? high + 1 : value.toMillis();
    check(millis >= low && millis <= high, name + " must be " + low + " to " + high + " ms");
  }

  private void checkNumber(String name, int value, int high) {
    check(value >= 1 && value <= high, name + " must be 1 to " + high + ", not " + value);
  }

  private void check(boolean valid, String fault) {
    if (!valid) faults.add(fault);
  }

  private static String hostName() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "leaf-client";
    }
  }
}
