import { BitLayout, type SnowflakeParts } from '../snowflake/bit-layout';
import type { StepLog } from './step-log';

/** Records the timestamps of issued IDs: a generator composes the first ID of each millisecond. */
export class LoggedLayout extends BitLayout {
  constructor(
    layout: BitLayout,
    private readonly log: StepLog,
  ) {
    super(layout);
  }

  override compose(parts: SnowflakeParts): bigint {
    this.log.issue(parts.workerId, parts.timestamp);
    return super.compose(parts);
  }
}
