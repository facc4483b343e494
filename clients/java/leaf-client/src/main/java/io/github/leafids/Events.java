package io.github.leafids;

import java.util.function.Consumer;

/** Calls the listener of a client so that its exceptions do no harm. */
final class Events {
  private final LeafListener listener;

  Events(LeafListener listener) {
    this.listener = listener;
  }

  void fire(Consumer<LeafListener> event) {
    try {
      event.accept(listener);
    } catch (RuntimeException | Error e) {
      // A failing listener must not fail a call.
    }
  }

  /** The message of an error with that of its cause. */
  static String reasonOf(Throwable error) {
    Throwable cause = error.getCause();
    String message = error.getMessage() == null ? error.toString() : error.getMessage();
    return cause == null || cause.getMessage() == null || message.contains(cause.getMessage())
        ? message : message + "; cause: " + cause.getMessage();
  }
}
