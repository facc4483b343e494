package io.github.leafids;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads JSON of RFC 8259: objects as {@link Map}, arrays as {@link List}, whole numbers as {@link Long}, others as
 * {@link Double}. At most 32 levels, far more than any answer of a server has.
 */
final class Json {
  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  /** @throws IllegalArgumentException for text that is not JSON */
  static Object parse(String text) {
    Json json = new Json(text);
    Object value = json.value(32);
    if (json.peek() != 0) throw json.wrong();
    return value;
  }

  static String quote(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c < ' ') quoted.append(String.format("\\u%04x", (int) c));
      else quoted.append(c == '"' || c == '\\' ? "\\" : "").append(c);
    }
    return quoted.append('"').toString();
  }

  private Object value(int levels) {
    if (levels == 0) throw wrong();
    switch (peek()) {
      case '{':
        return object(levels - 1);
      case '[':
        return array(levels - 1);
      case '"':
        return string();
      case 't':
        return word("true", true);
      case 'f':
        return word("false", false);
      case 'n':
        return word("null", null);
      default:
        return number();
    }
  }

  private Map<String, Object> object(int levels) {
    Map<String, Object> object = new LinkedHashMap<>();
    at++;
    if (peek() == '}') at++;
    else {
      do {
        if (peek() != '"') throw wrong();
        String name = string();
        expect(':');
        object.put(name, value(levels));
      } while (another('}'));
    }
    return object;
  }

  private List<Object> array(int levels) {
    List<Object> array = new ArrayList<>();
    at++;
    if (peek() == ']') at++;
    else {
      do array.add(value(levels));
      while (another(']'));
    }
    return array;
  }

  private boolean another(char end) {
    if (peek() == ',') {
      at++;
      return true;
    }
    expect(end);
    return false;
  }

  private String string() {
    StringBuilder value = new StringBuilder();
    for (at++; ; at++) {
      char c = at < text.length() ? text.charAt(at) : 0;
      if (c < ' ') throw wrong();
      if (c == '"') break;
      value.append(c == '\\' ? escaped() : c);
    }
    at++;
    return value.toString();
  }

  private char escaped() {
    int kind = ++at < text.length() ? "\"\\/bfnrtu".indexOf(text.charAt(at)) : -1;
    if (kind < 0 || (kind == 8 && at + 4 >= text.length())) throw wrong();
    if (kind < 8) return "\"\\/\b\f\n\r\t".charAt(kind);
    at += 4;
    return (char) Integer.parseInt(text.substring(at - 3, at + 1), 16);
  }

  private Object number() {
    int start = at;
    while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) at++;
    String number = text.substring(start, at);
    if (number.matches("-?(0|[1-9]\\d{0,17})")) return Long.valueOf(number);
    if (number.matches("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d+)?")) return Double.valueOf(number);
    throw wrong();
  }

  private Object word(String word, Object value) {
    if (!text.startsWith(word, at)) throw wrong();
    at += word.length();
    return value;
  }

  private void expect(char expected) {
    if (peek() != expected) throw wrong();
    at++;
  }

  /** The next character that is no white space; 0 at the end. */
  private char peek() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
    return at < text.length() ? text.charAt(at) : 0;
  }

  private IllegalArgumentException wrong() {
    return new IllegalArgumentException("not JSON at character " + at);
  }
}
