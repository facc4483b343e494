import { LeafError } from '@leaf/core';
import type { Siblings, Topic } from './siblings';

/**
 * Has all processes of the server do something that may be done twice. One that is being replaced takes over from the
 * others what they hold.
 *
 * @returns what this process answered
 * @throws LeafError `LEAF_NOT_READY` when one did not, though the others did
 */
export async function everywhere<Order, Answer>(
  siblings: Siblings,
  topic: Topic<Order, Answer>,
  order: Order,
): Promise<Answer | undefined> {
  const { answers, missing } = await siblings.gather(topic, order);
  const failed = missing.find(({ gone }) => !gone);
  if (failed === undefined) return answers.find(({ process }) => process === siblings.process)?.value;
  throw new LeafError(
    'LEAF_NOT_READY',
    `Process ${failed.process} of this server has not done it: ${failed.reason}. The others have: ask again.`,
    { retryAfterMs: 1000 },
  );
}
