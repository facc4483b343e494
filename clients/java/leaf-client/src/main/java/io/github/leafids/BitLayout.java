package io.github.leafids;

/**
 * The bits of snowflake IDs, after Twitter's Snowflake (2010): a sign bit that is always 0, then time, worker ID and
 * sequence, from the most significant bit.
 */
public final class BitLayout {
  /** The layout of servers without another setting: 41 bits of time, 10 of worker ID, 12 of sequence. */
  public static final BitLayout DEFAULT = new BitLayout(41, 10, 12, 1_288_834_974_657L);

  private static final long MAX_SAFE = (1L << 53) - 1;

  final int timeBits;
  final int workerBits;
  final int sequenceBits;
  final long epoch;
  final int maxSequence;
  final long maxTimestamp;

  /**
   * @param timeBits 31 to 52
   * @param workerBits 1 to 22
   * @param sequenceBits 1 to 22
   * @param epoch Unix milliseconds at which the time is 0
   * @throws LeafException {@code LEAF_LAYOUT_INVALID}
   */
  public BitLayout(int timeBits, int workerBits, int sequenceBits, long epoch) {
    within("time bits", timeBits, 31, 52);
    within("worker bits", workerBits, 1, 22);
    within("sequence bits", sequenceBits, 1, 22);
    if (timeBits + workerBits + sequenceBits > 63) throw invalid("the bits add up to more than 63");
    this.timeBits = timeBits;
    this.workerBits = workerBits;
    this.sequenceBits = sequenceBits;
    this.epoch = epoch;
    this.maxSequence = (1 << sequenceBits) - 1;
    this.maxTimestamp = epoch + (1L << timeBits) - 1;
    if (epoch < 0 || (epoch > 0 && epoch < 32_503_680_000L)) throw invalid("the epoch must be in Unix milliseconds");
    if (epoch > MAX_SAFE || maxTimestamp > MAX_SAFE) throw invalid("the epoch is too late for the time bits");
  }

  int maxWorkerId() {
    return (1 << workerBits) - 1;
  }

  /** The parts must fit the layout. */
  long compose(long timestamp, int workerId, int sequence) {
    return (timestamp - epoch) << (workerBits + sequenceBits) | (long) workerId << sequenceBits | sequence;
  }

  /** @throws LeafException {@code LEAF_ID_INVALID} */
  SnowflakeId decompose(long id) {
    if (id < 0 || id >>> (workerBits + sequenceBits) > maxTimestamp - epoch) {
      throw new LeafException("LEAF_ID_INVALID", "Invalid snowflake ID " + id + ": it is outside of the layout.");
    }
    long timestamp = (id >>> (workerBits + sequenceBits)) + epoch;
    return new SnowflakeId(timestamp, (int) (id >>> sequenceBits) & maxWorkerId(), (int) id & maxSequence);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof BitLayout && toString().equals(other.toString());
  }

  @Override
  public int hashCode() {
    return toString().hashCode();
  }

  /** The bits and the epoch: {@code 41,10,12@1288834974657}. */
  @Override
  public String toString() {
    return timeBits + "," + workerBits + "," + sequenceBits + "@" + epoch;
  }

  private static void within(String field, int value, int low, int high) {
    if (value < low || value > high) throw invalid(field + " must be " + low + " to " + high + ", not " + value);
  }

  private static LeafException invalid(String reason) {
    return new LeafException("LEAF_LAYOUT_INVALID", "Invalid bit layout: " + reason + ".");
  }
}
