package io.github.leafids;

/** The fields of a snowflake ID. */
public final class SnowflakeId {
  private final long timestamp;
  private final int workerId;
  private final int sequence;

  SnowflakeId(long timestamp, int workerId, int sequence) {
    this.timestamp = timestamp;
    this.workerId = workerId;
    this.sequence = sequence;
  }

  /** Unix milliseconds. */
  public long timestamp() {
    return timestamp;
  }

  public int workerId() {
    return workerId;
  }

  /** The number of the ID within its millisecond. */
  public int sequence() {
    return sequence;
  }

  @Override
  public String toString() {
    return "timestamp " + timestamp + ", worker " + workerId + ", sequence " + sequence;
  }
}
