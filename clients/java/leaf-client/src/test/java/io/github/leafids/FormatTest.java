package io.github.leafids;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class FormatTest {
  @Test
  void readsJson() {
    assertEquals("{a=[1, -2.5, true, false, null, x\"\n\u00e9], b={}, c=[]}",
        Json.parse(" {\"a\":[1,-25e-1,true,false,null,\"x\\\"\\n\\u00e9\"] , \"b\":{}, \"c\":[]}\n").toString());
    assertEquals("\"a\\\"b\\\\\\u000a\"", Json.quote("a\"b\\\n"));
    assertEquals("a\"b\\\n", Json.parse(Json.quote("a\"b\\\n")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{", "[1,]", "{\"a\" 1}", "{a:1}", "01", "1 2", "\"a", "\"\\x\"", "\"\\u12\"", "nul", "+1"})
  void refusesWhatIsNotJson(String text) {
    assertThrows(IllegalArgumentException.class, () -> Json.parse(text));
  }

  @Test
  void refusesDeepJson() {
    StringBuilder deep = new StringBuilder();
    for (int i = 0; i < 100_000; i++) deep.append('[');
    assertThrows(IllegalArgumentException.class, () -> Json.parse(deep.toString()));
  }

  @Test
  void composesAndDecomposes() {
    long id = BitLayout.DEFAULT.compose(1_795_335_429_032L, 17, 0);
    assertEquals(2_124_416_881_786_949_632L, id);
    SnowflakeId parts = BitLayout.DEFAULT.decompose(id + 4095);
    assertEquals("timestamp 1795335429032, worker 17, sequence 4095", parts.toString());
    BitLayout small = new BitLayout(31, 1, 1, 1_288_834_974_657L);
    assertEquals("LEAF_ID_INVALID", assertThrows(LeafException.class, () -> small.decompose(id)).code());
    assertEquals("LEAF_LAYOUT_INVALID",
        assertThrows(LeafException.class, () -> new BitLayout(41, 12, 12, 0)).code());
  }

  @Test
  void listsAllFaultsOfTheOptions() {
    LeafException error = assertThrows(LeafException.class, () -> LeafClient.builder().servers("ftp://a", "http://u@b")
        .timeout(Duration.ZERO).segment(10, 5, null).window(Duration.ofSeconds(1)).holder("").token("a b")
        .preload("a/b").build());
    assertEquals("LEAF_CONFIG_INVALID", error.code());
    for (String part : "ftp://a|user|timeout|maxSize|duration|window|holder|token|a/b".split("\\|")) {
      assertTrue(error.getMessage().contains(part), part + " in " + error.getMessage());
    }
    assertTrue(assertThrows(LeafException.class, () -> LeafClient.builder().build()).getMessage().contains("server"));
  }

  /** Answers each connection with the next text, then closes it. */
  private static HttpChannel.Answer exchange(String... responses) throws IOException {
    try (ServerSocket listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      CompletableFuture.runAsync(() -> {
        try {
          for (String response : responses) {
            try (Socket socket = listener.accept()) {
              BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), "ISO-8859-1"));
              while (!in.readLine().isEmpty()) continue;
              socket.getOutputStream().write(response.getBytes(StandardCharsets.UTF_8));
            }
          }
        } catch (IOException e) {
          // The client sees it, too.
        }
      });
      HttpChannel channel = new HttpChannel(URI.create("http://127.0.0.1:" + listener.getLocalPort()));
      HttpChannel.Answer answer = null;
      for (int i = 0; i < responses.length; i++) {
        answer = channel.send("GET", "/", "", null, System.nanoTime() + 5_000_000_000L);
      }
      channel.close();
      return answer;
    }
  }

  @Test
  void readsBodiesOfAllKinds() throws IOException {
    assertEquals("hello", exchange("HTTP/1.1 200 OK\r\ncontent-LENGTH: 5\r\n\r\nhello").text);
    assertEquals("hello", exchange("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "2;x=1\r\nhe\r\n3\r\nllo\r\n0\r\nTrailer: 1\r\n\r\n").text);
    assertEquals("hello", exchange("HTTP/1.0 200 OK\r\n\r\nhello").text);
    assertEquals("", exchange("HTTP/1.1 204 No Content\r\n\r\n").text);
  }

  @Test
  void opensAnotherConnectionWhenTheServerHasClosedOne() throws IOException {
    String kept = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n";
    assertEquals("b", exchange(kept + "a", kept + "b").text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
      "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n"})
  void refusesInvalidResponses(String response) {
    assertThrows(IOException.class, () -> exchange(response));
  }

  @Test
  void refusesLargeResponses() {
    String large = new String(new char[1 << 20]).replace('\0', 'a');
    assertThrows(IOException.class, () -> exchange("HTTP/1.1 200 OK\r\n\r\n" + large));
  }

  @Test
  void readsNoBytesAfterAnAnswerAsTheNextOne() throws IOException {
    String kept = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n";
    assertEquals("b", exchange(kept + "a" + kept + "x", kept + "b").text);
  }

  @Test
  void comparesAnswersOfManyRangesInLinearTime() throws ServerFault {
    Answers.Ranges odd = ranges(1);
    Answers.Ranges even = ranges(2);
    assertTimeout(Duration.ofSeconds(2), () -> assertFalse(odd.overlaps(even)));
    assertTrue(odd.overlaps(odd));
  }

  private static Answers.Ranges ranges(int first) {
    Answers.Ranges ranges = new Answers.Ranges();
    for (int i = 0; i < 100_000; i++) ranges.list.add(new Range(2L * i + first, 2L * i + first));
    return ranges;
  }

  @Test
  void repeatsNoLongMessagesOfServersAndNoPasswords() throws ServerFault {
    String detail = new String(new char[100_000]).replace('\0', 'a');
    String problem = "{\"code\":\"LEAF_TAG_PAUSED\",\"detail\":\"" + detail + "\"}";
    HttpChannel.Answer answer = new HttpChannel.Answer(503, Collections.singletonMap("content-type", TestServer.PROBLEM), problem);
    assertEquals(1000, Answers.refusalOf(answer, LeafClock.system()).getMessage().length());
    for (String url : new String[] {"ftp://me:secret@a", "http://me:secret@a b", "http://me:secret@a:70000"}) {
      LeafException error = assertThrows(LeafException.class, () -> LeafClient.builder().servers(url).build());
      assertFalse(error.getMessage().contains("secret"), error.getMessage());
    }
    assertThrows(LeafException.class, () -> LeafClient.builder().servers("http://a:70000").build());
  }
}
