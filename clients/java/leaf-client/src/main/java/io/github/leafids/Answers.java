package io.github.leafids;

import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads the responses of the servers. */
final class Answers {
  private static final long MAX_RETRY_AFTER_MS = 60_000;
  /** Characters of a message of a server that are repeated in an error. */
  private static final int MAX_DETAIL = 1000;
  private static final Set<String> CODES = Collections.unmodifiableSet(new HashSet<>(Arrays.asList((
      "TAG_INVALID SIZE_INVALID ID_INVALID BODY_INVALID REQUEST_INVALID PERIOD_INVALID UNAUTHORIZED FORBIDDEN"
      + " WINDOWS_DISABLED TAG_NOT_FOUND CLIENT_NOT_FOUND NUMBER_NOT_FOUND LEASE_NOT_FOUND NOT_FOUND METHOD_NOT_ALLOWED"
      + " TAG_EXISTS MAX_ID_BACKWARDS TAG_PERIODIC TAG_NOT_PERIODIC TAG_GAPLESS TAG_NOT_GAPLESS NUMBER_EXISTS"
      + " NUMBER_SETTLED REQUEST_TIMEOUT BODY_TOO_LARGE URL_TOO_LONG MEDIA_TYPE_UNSUPPORTED TOO_MANY_FAILURES"
      + " QUOTA_EXCEEDED HEADERS_TOO_LARGE ID_TOO_LARGE SEGMENT_DISABLED SNOWFLAKE_DISABLED NOT_READY OVERLOADED"
      + " SEGMENT_UNAVAILABLE STORE_UNAVAILABLE STORE_BACKWARDS TAG_PAUSED TAG_EXHAUSTED NUMBERS_HISTORY_LOST"
      + " TAG_ROW_INVALID CLOCK_BACKWARDS LEASE_EXPIRED LEASE_LOST EPOCH_EXHAUSTED REGISTRY_UNREACHABLE"
      + " SERVERS_UNAVAILABLE CONFIG_INVALID LAYOUT_INVALID LAYOUT_MISMATCH REGISTRY_MISMATCH CLOCK_BEHIND WORKER_HELD"
      + " WORKERS_USED_UP CLOCK_OFFSET WORKER_UNASSIGNED WORKER_FILE_INVALID DATABASE_UNUSABLE DATA_DIR_UNUSABLE"
      + " PORT_UNUSABLE").split(" "))));

  /** Refusals below 500 that another server may not repeat: it may have another range of worker IDs. */
  private static final Set<String> OF_ONE_SERVER = Collections.unmodifiableSet(new HashSet<>(Arrays.asList(
      "LEAF_NOT_FOUND", "LEAF_REQUEST_TIMEOUT", "LEAF_WORKERS_USED_UP")));

  private Answers() {}

  /** A refusal of a server, with the status of its response. */
  private static final class Refused extends LeafException {
    private static final long serialVersionUID = 1L;
    final int status;

    Refused(String code, String message, Duration retryAfter, int status) {
      super(code, message, retryAfter, null);
      this.status = status;
    }
  }

  /** Whether every other server would respond with the same refusal. */
  static boolean isFinal(LeafException error) {
    int status = error instanceof Refused ? ((Refused) error).status : 400;
    return status < 500 && status != 429 && !OF_ONE_SERVER.contains(error.code());
  }

  static Object parse(HttpChannel.Answer answer) throws ServerFault {
    try {
      return Json.parse(answer.text);
    } catch (IllegalArgumentException e) {
      throw new ServerFault("invalid response: it is not JSON", -1, e);
    }
  }

  /** @return the refusal of a Leaf server; otherwise throws the fault of the server or of a proxy */
  static LeafException refusalOf(HttpChannel.Answer answer, LeafClock clock) throws ServerFault {
    int status = answer.status;
    long retryAfter = status == 503 || status == 429 ? retryAfter(answer.headers.get("retry-after"), clock) : -1;
    String type = String.valueOf(answer.headers.get("content-type"));
    Map<?, ?> problem = Collections.emptyMap();
    if (type.matches("(?i)application/problem\\+json\\b.*")) problem = object(parse(answer));
    Object code = problem.get("code");
    if (!(code instanceof String) || !((String) code).matches("LEAF_[A-Z_]{1,60}")) {
      String hint = status >= 300 && status < 400 ? "; redirects are not followed" : "";
      throw new ServerFault("status " + status + " without an error of a Leaf server" + hint, retryAfter, null);
    }
    String detail = problem.get("detail") instanceof String ? (String) problem.get("detail") : "";
    detail = detail.substring(0, Math.min(detail.length(), MAX_DETAIL));
    if (CODES.contains(((String) code).substring(5))) {
      return new Refused((String) code, detail, retryAfter < 0 ? null : Duration.ofMillis(retryAfter), status);
    }
    String unknown = "status " + status + " " + code + ": " + detail;
    if (status >= 500 || status == 429) throw new ServerFault(unknown, retryAfter, null);
    return new Refused("LEAF_REQUEST_INVALID", unknown, null, status);
  }

  private static long retryAfter(String header, LeafClock clock) {
    if (header == null) return -1;
    try {
      long ms = header.matches("\\d{1,9}") ? Long.parseLong(header) * 1000
          : ZonedDateTime.parse(header, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant().toEpochMilli() - clock.wallMillis();
      return Math.min(MAX_RETRY_AFTER_MS, Math.max(0, ms));
    } catch (DateTimeParseException e) {
      return -1;
    }
  }

  /** The ranges of IDs of one answer, ascending. */
  static final class Ranges {
    final List<Range> list = new ArrayList<>();
    boolean strict;

    boolean overlaps(Ranges other) {
      // Both ascend.
      for (int i = 0, j = 0; i < list.size() && j < other.list.size(); ) {
        Range range = list.get(i);
        Range known = other.list.get(j);
        if (range.to < known.from) i++;
        else if (known.to < range.from) j++;
        else return true;
      }
      return false;
    }

    long last() {
      return list.get(list.size() - 1).to;
    }
  }

  /** @throws ServerFault unless the ranges belong to the tag, ascend, and contain {@code count} IDs in total */
  static Ranges ranges(Object body, String tag, int count) throws ServerFault {
    Map<?, ?> answer = object(body);
    if (!tag.equals(answer.get("tag"))) throw ServerFault.wrong("its ranges do not belong to tag \"" + tag + "\"");
    if (!(answer.get("ranges") instanceof List)) throw ServerFault.wrong("it has no ranges");
    Ranges ranges = new Ranges();
    ranges.strict = "strict".equals(answer.get("order"));
    long total = 0;
    long last = 0;
    for (Object each : (List<?>) answer.get("ranges")) {
      long from = id(object(each).get("from"));
      long to = id(object(each).get("to"));
      if (from <= last || to < from) throw ServerFault.wrong("its ranges do not ascend");
      if (to - from >= count - total) throw ServerFault.wrong("it has more than " + count + " IDs");
      ranges.list.add(new Range(from, to));
      total += to - from + 1;
      last = to;
    }
    if (total != count) throw ServerFault.wrong("it has " + total + " IDs instead of " + count);
    return ranges;
  }

  /** The number of a period answer for one. */
  static PeriodNumber period(Object body, String tag) throws ServerFault {
    Object period = object(body).get("period");
    if (!(period instanceof String) || !((String) period).matches("\\d{4}(-\\d\\d(-\\d\\d)?|-W\\d\\d|-Q\\d|/\\d\\d-\\d\\d)?")) {
      throw ServerFault.wrong("it has no period");
    }
    return new PeriodNumber((String) period, ranges(body, tag, 1).list.get(0).from);
  }

  /** Canonical decimal from 1 to 2^63 - 1. */
  private static long id(Object text) throws ServerFault {
    if (text instanceof String && ((String) text).matches("[1-9]\\d{0,18}")) {
      try {
        return Long.parseLong((String) text);
      } catch (NumberFormatException e) {
        // Above 2^63 - 1.
      }
    }
    throw ServerFault.wrong("a range lacks a decimal ID");
  }

  static Map<?, ?> object(Object value) throws ServerFault {
    if (value instanceof Map) return (Map<?, ?>) value;
    throw ServerFault.wrong("it contains no JSON object where one is expected");
  }

  /** A whole number from 0. */
  static long whole(Map<?, ?> object, String name) throws ServerFault {
    Object value = object.get(name);
    if (value instanceof Long && (Long) value >= 0) return (Long) value;
    throw ServerFault.wrong("it lacks the number \"" + name + "\"");
  }
}
