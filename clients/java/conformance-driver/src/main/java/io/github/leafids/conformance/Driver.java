package io.github.leafids.conformance;

import com.eclipsesource.json.Json;
import com.eclipsesource.json.JsonArray;
import com.eclipsesource.json.JsonObject;
import com.eclipsesource.json.JsonValue;
import io.github.leafids.BitLayout;
import io.github.leafids.LeafClient;
import io.github.leafids.LeafException;
import io.github.leafids.PeriodNumber;
import io.github.leafids.SnowflakeId;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.LocalDate;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** The driver of test/conformance for this client: commands on standard input, answers on standard output. */
final class Driver {
  private final DriverClock clock = new DriverClock();
  private final LeafClient client;
  private final PrintStream out;

  private Driver(JsonObject options, PrintStream out) {
    this.client = clientOf(options);
    this.out = out;
  }

  public static void main(String[] args) throws IOException, InterruptedException {
    Driver driver = new Driver(Json.parse(args[0]).asObject(), System.out);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      driver.client.close();
      Runtime.getRuntime().halt(0);
    }));
    ExecutorService commands = Executors.newCachedThreadPool();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      JsonObject command = Json.parse(line).asObject();
      String op = command.getString("op", "");
      if (op.equals("close")) {
        driver.client.close();
        // The calls that the client has refused have answers to write.
        commands.shutdown();
        commands.awaitTermination(1, TimeUnit.SECONDS);
        driver.obey(command);
      }
      // In the order of the lines: they take no time.
      if (op.matches("step|freeze")) driver.obey(command);
      else commands.execute(() -> driver.obey(command));
    }
    System.exit(0);
  }

  private void obey(JsonObject command) {
    JsonObject answer = Json.object().add("id", command.get("id"));
    try {
      execute(command, answer);
    } catch (LeafException error) {
      answer.add("code", error.code()).add("message", error.getMessage());
    } catch (RuntimeException error) {
      answer.add("code", "DRIVER_FAILED").add("message", String.valueOf(error));
    }
    synchronized (out) {
      out.println(answer);
      out.flush();
    }
    if (command.getString("op", "").equals("close")) System.exit(0);
  }

  private void execute(JsonObject command, JsonObject answer) {
    String tag = command.getString("tag", null);
    switch (command.getString("op", "")) {
      case "next":
        answer.add("ids", texts(command.get("count") == null ? new long[] {client.next(tag)}
            : client.next(tag, command.getInt("count", 0))));
        break;
      case "period":
        String date = command.getString("date", null);
        PeriodNumber number = date == null ? client.nextInPeriod(tag) : client.nextInPeriod(tag, LocalDate.parse(date));
        answer.add("number", Long.toString(number.number())).add("period", number.period());
        break;
      case "ready":
        client.ready();
        break;
      case "snowflake":
        snowflake(command, answer);
        break;
      case "decode":
        SnowflakeId id = client.decode(Long.parseLong(command.getString("value", "")));
        answer.add("timestamp", id.timestamp()).add("workerId", id.workerId()).add("sequence", id.sequence());
        break;
      case "step":
        clock.step(command.getLong("ms", 0));
        break;
      case "freeze":
        clock.freeze(command.getLong("ms", 0));
        break;
      case "run":
        LongSupplier call = command.getString("what", "").equals("segment") ? () -> client.next(tag) : client::snowflake;
        new Run(call, command).execute(answer);
        break;
      case "close":
        client.close();
        break;
      default:
        throw new IllegalArgumentException("unknown command " + command);
    }
  }

  private void snowflake(JsonObject command, JsonObject answer) {
    JsonArray ids = new JsonArray();
    answer.add("ids", ids);
    JsonValue step = command.get("step");
    if (step != null) clock.stepAfter(step.asObject().getLong("afterReads", 1), step.asObject().getLong("ms", 0));
    try {
      for (int left = command.getInt("count", 1); left > 0; left--) ids.add(Long.toString(client.snowflake()));
    } finally {
      if (step != null) clock.stepAfter(0, 0);
    }
  }

  private static JsonArray texts(long[] ids) {
    JsonArray texts = new JsonArray();
    for (long id : ids) texts.add(Long.toString(id));
    return texts;
  }

  private LeafClient clientOf(JsonObject options) {
    LeafClient.Builder builder = LeafClient.builder().clock(clock).preloadSnowflake();
    for (JsonObject.Member option : options) {
      JsonValue value = option.getValue();
      switch (option.getName()) {
        case "servers":
          value.asArray().forEach(url -> server(builder, url));
          break;
        case "zone":
          builder.zone(value.asString());
          break;
        case "token":
          builder.token(value.asString());
          break;
        case "timeoutMs":
          builder.timeout(Duration.ofMillis(value.asLong()));
          break;
        case "requestTimeoutMs":
          builder.requestTimeout(Duration.ofMillis(value.asLong()));
          break;
        case "maxWaiting":
          builder.maxWaiting(value.asInt());
          break;
        case "segment":
          JsonObject segment = value.asObject();
          builder.segment(segment.getInt("minSize", 100), segment.getInt("maxSize", 1_000_000),
              Duration.ofMillis(segment.getLong("durationMs", 10_000)));
          break;
        case "layout":
          JsonObject bits = value.asObject();
          builder.layout(new BitLayout(bits.getInt("timeBits", 0), bits.getInt("workerBits", 0),
              bits.getInt("sequenceBits", 0), bits.getLong("epoch", -1)));
          break;
        case "snowflake":
          JsonObject snowflake = value.asObject();
          builder.window(Duration.ofMillis(snowflake.getLong("windowMs", 60_000)));
          if (snowflake.get("holder") != null) builder.holder(snowflake.getString("holder", ""));
          if (snowflake.get("token") != null) builder.workerToken(snowflake.getString("token", ""));
          break;
        default:
          throw new IllegalArgumentException("unknown option " + option.getName());
      }
    }
    return builder.build();
  }

  private static void server(LeafClient.Builder builder, JsonValue server) {
    if (server.isString()) builder.servers(server.asString());
    else builder.server(server.asObject().getString("url", ""), server.asObject().getString("zone", null));
  }
}
