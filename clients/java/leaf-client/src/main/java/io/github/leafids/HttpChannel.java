package io.github.leafids;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/**
 * The connections to one server, HTTP/1.1 with keep-alive. {@code HttpURLConnection} has no limit for a whole request,
 * and this client must not read an answer after its time limit.
 */
final class HttpChannel {
  /** Far above the largest answer. */
  private static final int MAX_BYTES = 1 << 20;
  /** Shorter than the keep-alive of the servers, so that no request uses a connection that is being closed. */
  private static final long KEEP_ALIVE_NANOS = 30_000_000_000L;

  private final URI url;
  private final boolean secure;
  private final int port;
  private final ConcurrentLinkedDeque<Connection> idle = new ConcurrentLinkedDeque<>();
  private final Set<Connection> open = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /** @param url base URL of the routes, without a slash at its end */
  HttpChannel(URI url) {
    this.url = url;
    secure = "https".equalsIgnoreCase(url.getScheme());
    port = url.getPort() >= 0 ? url.getPort() : secure ? 443 : 80;
  }

  /** A response. The names of the headers are not case-sensitive. */
  static final class Answer {
    final int status;
    final Map<String, String> headers;
    final String text;

    Answer(int status, Map<String, String> headers, String text) {
      this.status = status;
      this.headers = headers;
      this.text = text;
    }
  }

  /**
   * @param headers lines that end with CR and LF
   * @param body JSON, or null
   * @param deadline of the complete response, by {@code System.nanoTime()}
   */
  Answer send(String method, String path, String headers, String body, long deadline) throws IOException {
    byte[] content = body == null ? new byte[0] : body.getBytes(StandardCharsets.UTF_8);
    String head = method + " " + url.getRawPath() + path + " HTTP/1.1\r\nHost: " + url.getRawAuthority() + "\r\n" + headers
        + (body == null ? "" : "Content-Type: application/json\r\nContent-Length: " + content.length + "\r\n") + "\r\n";
    ByteArrayOutputStream request = new ByteArrayOutputStream();
    request.write(head.getBytes(StandardCharsets.ISO_8859_1));
    request.write(content);
    for (Connection kept = reusable(); kept != null; kept = reusable()) {
      try {
        return exchange(kept, request, deadline);
      } catch (SocketTimeoutException timeout) {
        throw timeout;
      } catch (IOException broken) {
        // The server has closed it meanwhile. Every request can be repeated; another connection tells if it is up.
        if (kept.answered) throw broken;
      }
    }
    return exchange(new Connection(deadline), request, deadline);
  }

  /** Ends all requests. */
  void close() {
    closed = true;
    for (Connection connection : open) connection.close();
  }

  private Connection reusable() {
    Connection kept;
    while ((kept = idle.pollFirst()) != null && kept.isOld()) kept.close();
    return kept;
  }

  private Answer exchange(Connection connection, ByteArrayOutputStream request, long deadline) throws IOException {
    boolean reuse = false;
    try {
      connection.begin(deadline);
      request.writeTo(connection.socket.getOutputStream());
      Answer answer = connection.answer();
      // The process may have been suspended: an answer that is late does not count.
      connection.left();
      // Bytes after the answer would be read as that of the next request.
      reuse = connection.reusable && connection.position == connection.limit && !closed;
      return answer;
    } finally {
      if (!reuse) connection.close();
      else {
        connection.idleSince = System.nanoTime();
        idle.addFirst(connection);
        // The oldest one is never used again while one is enough.
        Connection oldest = idle.pollLast();
        if (oldest != null && oldest.isOld()) oldest.close();
        else if (oldest != null) idle.addLast(oldest);
      }
    }
  }

  private final class Connection {
    final byte[] buffer = new byte[8192];
    Socket socket;
    int position;
    int limit;
    int budget;
    long deadline;
    long idleSince;
    boolean answered;
    boolean reusable;

    Connection(long deadline) throws IOException {
      begin(deadline);
      IOException failure = null;
      for (InetAddress address : InetAddress.getAllByName(url.getHost())) {
        socket = new Socket();
        open.add(this);
        try {
          if (closed) throw new IOException("the client is closed");
          socket.setTcpNoDelay(true);
          socket.connect(new InetSocketAddress(address, port), left());
          if (secure) secure();
          return;
        } catch (IOException e) {
          close();
          failure = e;
        }
      }
      throw failure;
    }

    private void secure() throws IOException {
      socket.setSoTimeout(left());
      SSLSocketFactory factory = (SSLSocketFactory) SSLSocketFactory.getDefault();
      SSLSocket layered = (SSLSocket) factory.createSocket(socket, url.getHost(), port, true);
      SSLParameters parameters = layered.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      layered.setSSLParameters(parameters);
      layered.startHandshake();
      socket = layered;
    }

    void begin(long until) {
      deadline = until;
      budget = MAX_BYTES;
      answered = false;
    }

    void close() {
      open.remove(this);
      try {
        socket.close();
      } catch (IOException e) {
        // It is of no further use.
      }
    }

    boolean isOld() {
      return System.nanoTime() - idleSince > KEEP_ALIVE_NANOS;
    }

    /** Milliseconds to the deadline. */
    int left() throws SocketTimeoutException {
      long nanos = deadline - System.nanoTime();
      if (nanos <= 0) throw new SocketTimeoutException("timed out");
      return (int) Math.min(Integer.MAX_VALUE, nanos / 1_000_000 + 1);
    }

    Answer answer() throws IOException {
      for (;;) {
        String[] first = line().split(" ", 3);
        if (first.length < 2 || !first[0].startsWith("HTTP/1.") || !first[1].matches("[1-5]\\d\\d")) {
          throw new IOException("the response is not HTTP/1.1");
        }
        int status = Integer.parseInt(first[1]);
        Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (String line = line(); !line.isEmpty(); line = line()) {
          int colon = line.indexOf(':');
          if (colon > 0) headers.put(line.substring(0, colon), line.substring(colon + 1).trim());
        }
        if (status < 200) continue;
        reusable = "HTTP/1.1".equals(first[0]) && !"close".equalsIgnoreCase(headers.get("connection"));
        String text = status == 204 || status == 304 ? "" : new String(body(headers), StandardCharsets.UTF_8);
        return new Answer(status, headers, text);
      }
    }

    private byte[] body(Map<String, String> headers) throws IOException {
      ByteArrayOutputStream body = new ByteArrayOutputStream();
      String length = headers.get("content-length");
      if ("chunked".equalsIgnoreCase(headers.get("transfer-encoding"))) {
        for (int size = hex(); size > 0; size = hex()) {
          copy(size, body);
          line();
        }
        while (!line().isEmpty()) continue;
      } else if (length != null) {
        copy(number(length, 10), body);
      } else {
        reusable = false;
        for (int next = read(); next >= 0; next = read()) body.write(next);
      }
      return body.toByteArray();
    }

    private int hex() throws IOException {
      return number(line().split(";", 2)[0].trim(), 16);
    }

    private int number(String text, int radix) throws IOException {
      try {
        int size = Integer.parseInt(text, radix);
        if (size >= 0) return size;
      } catch (NumberFormatException e) {
        // As a negative length.
      }
      throw new IOException("the response has an invalid length");
    }

    private void copy(int size, ByteArrayOutputStream body) throws IOException {
      for (int count = 0; count < size; count++) {
        int next = read();
        if (next < 0) throw new EOFException("the connection was closed within the response");
        body.write(next);
      }
    }

    private String line() throws IOException {
      StringBuilder line = new StringBuilder();
      for (int next = read(); next != '\n'; next = read()) {
        if (next < 0) throw new EOFException("the connection was closed without a complete response");
        if (next != '\r') line.append((char) next);
      }
      return line.toString();
    }

    private int read() throws IOException {
      if (position == limit) {
        socket.setSoTimeout(left());
        limit = Math.max(0, socket.getInputStream().read(buffer));
        position = 0;
        if (limit == 0) return -1;
        answered = true;
      }
      if (--budget < 0) throw new IOException("the response exceeds 1 MiB");
      return buffer[position++] & 0xff;
    }
  }
}
