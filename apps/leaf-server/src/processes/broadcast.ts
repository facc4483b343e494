import { LeafError } from '@leaf-ids/core';
import type { ProcessBus, BusRequest } from './process-bus';

/**
 * Has all processes of the server do something that may be done twice. One that is being replaced takes over from the
 * others what they hold.
 *
 * @returns what this process answered
 * @throws LeafError `LEAF_NOT_READY` when one did not, though the others did
 */
export async function broadcast<Order, Answer>(
  bus: ProcessBus,
  topic: BusRequest<Order, Answer>,
  order: Order,
): Promise<Answer | undefined> {
  const { answers, missing } = await bus.ask(topic, order);
  const failed = missing.find(({ gone }) => !gone);
  if (failed === undefined) return answers.find(({ process }) => process === bus.process)?.value;
  throw new LeafError(
    'LEAF_NOT_READY',
    `Process ${failed.process} of this server has not done it: ${failed.reason}. The others have: ask again.`,
    { retryAfterMs: 1000 },
  );
}
