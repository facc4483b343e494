import { DEFAULT_EPOCH, type IdRange } from '@leaf-ids/core';
import { FakeClock, InMemoryIdService } from '@leaf-ids/core/testing';

/** With it, the first snowflake ID is 2^60, which a JavaScript number does not hold exactly. */
const TIME = DEFAULT_EPOCH + 2 ** 38;

/** Records the requests. It has the tags of the entities of the tests. */
export class RecordingIdService extends InMemoryIdService {
  readonly calls: { readonly tag: string | undefined; readonly count: number }[] = [];

  constructor() {
    super({ tags: ['order', 'item', 'folder', 'user', 'visit', 'note'], clock: new FakeClock(TIME) });
    this.snowflake();
  }

  override nextRanges(tag: string, count: number): Promise<IdRange[]> {
    this.calls.push({ tag, count });
    return super.nextRanges(tag, count);
  }

  override snowflakes(count: number): Promise<bigint[]> {
    this.calls.push({ tag: undefined, count });
    return super.snowflakes(count);
  }
}
