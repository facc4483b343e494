package io.github.leafids;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** A server over HTTP that answers as a Leaf server, unless a test tells it otherwise. */
final class TestServer implements AutoCloseable {
  static final String PROBLEM = "application/problem+json";
  static final String LAYOUT = "{\"epoch\":1288834974657,\"timeBits\":41,\"workerBits\":10,\"sequenceBits\":12}";

  /** The next requests, one rule each; then the default. A rule returns whether it has answered. */
  final BlockingQueue<Rule> rules = new LinkedBlockingQueue<>();
  final BlockingQueue<Request> requests = new LinkedBlockingQueue<>();
  final List<Request> log = new CopyOnWriteArrayList<>();
  volatile Rule always;
  volatile boolean strict;
  volatile int workerId = 17;
  volatile long windowMs = 60_000;
  volatile String layout = LAYOUT;
  private final AtomicLong newest = new AtomicLong();
  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool(Workers.named("test-server"));
  private volatile String leaseOfWindow = "";
  private volatile long from;

  interface Rule {
    void answer(Request request) throws IOException;
  }

  TestServer() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", exchange -> answer(new Request(exchange)));
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  LeafClient.Builder client() {
    return LeafClient.builder().servers(url()).holder("test");
  }

  /** The next request that arrives, or has arrived. */
  Request awaited() throws InterruptedException {
    Request request = requests.poll(10, TimeUnit.SECONDS);
    if (request == null) throw new AssertionError("no request has arrived");
    return request;
  }

  Request awaited(String method) throws InterruptedException {
    for (;;) {
      Request request = awaited();
      if (request.method.equals(method)) return request;
    }
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }

  private void answer(Request request) throws IOException {
    log.add(request);
    Rule rule = rules.poll();
    if (rule == null) rule = always;
    requests.add(request);
    if (rule != null) rule.answer(request);
    else request.sound();
  }

  final class Request {
    final String method;
    final String path;
    final String query;
    final String body;
    private final HttpExchange exchange;

    Request(HttpExchange exchange) throws IOException {
      this.exchange = exchange;
      method = exchange.getRequestMethod();
      path = exchange.getRequestURI().getPath();
      query = String.valueOf(exchange.getRequestURI().getQuery());
      ByteArrayOutputStream read = new ByteArrayOutputStream();
      InputStream in = exchange.getRequestBody();
      for (int next = in.read(); next >= 0; next = in.read()) read.write(next);
      body = new String(read.toByteArray(), StandardCharsets.UTF_8);
    }

    int size() {
      return Integer.parseInt(query.replaceAll(".*size=(\\d+).*", "$1"));
    }

    String header(String name) {
      return exchange.getRequestHeaders().getFirst(name);
    }

    Object json(String name) {
      return ((Map<?, ?>) Json.parse(body)).get(name);
    }

    String lease() {
      return method.equals("POST") ? (String) json("lease") : path.substring(path.lastIndexOf('/') + 1);
    }

    /** As a Leaf server does. */
    void sound() throws IOException {
      if (path.startsWith("/api/workers")) window();
      else {
        long to = newest.addAndGet(size());
        range(to - size() + 1, to);
      }
    }

    void range(long first, long last) throws IOException {
      String tag = path.substring(path.lastIndexOf('/') + 1);
      send(200, "application/json", "{\"tag\":\"" + tag + "\"," + (strict ? "\"order\":\"strict\"," : "")
          + "\"period\":\"2026-11\",\"ranges\":[{\"from\":\"" + first + "\",\"to\":\"" + last + "\"}]}");
    }

    void window() throws IOException {
      long now = System.currentTimeMillis();
      if (method.equals("DELETE")) {
        exchange.sendResponseHeaders(204, -1);
        exchange.close();
        return;
      }
      if (!lease().equals(leaseOfWindow)) from = now;
      leaseOfWindow = lease();
      send(method.equals("POST") ? 201 : 200, "application/json", "{\"workerId\":" + workerId + ",\"lease\":\"" + lease()
          + "\",\"from\":" + from + ",\"until\":" + (now + windowMs) + ",\"now\":" + now + ",\"layout\":" + layout + "}");
    }

    void refuse(int status, String code) throws IOException {
      send(status, PROBLEM, "{\"code\":\"" + code + "\",\"detail\":\"as the test wants\"}");
    }

    /** Closes the connection without a response. */
    void lose() {
      exchange.close();
    }

    void header(String name, String value) {
      exchange.getResponseHeaders().set(name, value);
    }

    void send(int status, String type, String text) throws IOException {
      if (!exchange.getResponseHeaders().containsKey("leaf-nonce") && query.contains("nonce=")) {
        header("leaf-nonce", query.replaceAll(".*nonce=", ""));
      }
      header("content-type", type);
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(status, bytes.length);
      exchange.getResponseBody().write(bytes);
      exchange.close();
    }
  }
}
