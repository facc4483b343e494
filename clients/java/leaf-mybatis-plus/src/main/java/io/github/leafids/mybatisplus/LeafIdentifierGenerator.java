package io.github.leafids.mybatisplus;

import com.baomidou.mybatisplus.core.incrementer.IdentifierGenerator;
import io.github.leafids.LeafClient;
import io.github.leafids.LeafException;

/** {@code ASSIGN_ID} with snowflake IDs of a {@link LeafClient}; {@code ASSIGN_UUID} is unchanged. */
public class LeafIdentifierGenerator implements IdentifierGenerator {
  private final LeafClient client;

  public LeafIdentifierGenerator(LeafClient client) {
    this.client = client;
  }

  /**
   * Waits up to the timeout of the client while no worker ID is held, as at the start.
   *
   * @throws LeafException why there is no ID
   */
  @Override
  public Number nextId(Object entity) {
    try {
      return client.snowflake();
    } catch (LeafException error) {
      if (!error.isRetryable()) throw error;
      return client.snowflakes(1)[0];
    }
  }
}
