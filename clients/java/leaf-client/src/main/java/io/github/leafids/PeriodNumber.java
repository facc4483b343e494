package io.github.leafids;

import java.util.Objects;

/** A number of a tag that restarts in each period; unique only with its period. */
public final class PeriodNumber {
  private final String period;
  private final long number;

  public PeriodNumber(String period, long number) {
    this.period = Objects.requireNonNull(period, "period");
    this.number = number;
  }

  /** The period, such as {@code 2026-11} or {@code 2026-W48}. */
  public String period() {
    return period;
  }

  public long number() {
    return number;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof PeriodNumber && ((PeriodNumber) other).number == number
        && ((PeriodNumber) other).period.equals(period);
  }

  @Override
  public int hashCode() {
    return period.hashCode() * 31 + Long.hashCode(number);
  }

  @Override
  public String toString() {
    return period + ":" + number;
  }
}
