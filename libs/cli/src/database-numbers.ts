import { userInfo } from 'node:os';
import type { NumberAnswer, NumberJson, Numbers } from '@leaf-ids/core';
import { type AuditJson, cursorOf, jsonOfAudit, parseCursor } from '@leaf-ids/core/internal';
import type { Continuation, NumberFilter, NumberList, NumberSource } from './number-source';

/** Longest name in the journal, in characters. */
const MAX_NAME = 64;

/** Numbers in a database, without a server. */
export class DatabaseNumbers implements NumberSource {
  /** @param open opens the database for an act, and closes it */
  constructor(private readonly open: <T>(act: (numbers: Numbers) => Promise<T>) => Promise<T>) {}

  issue(tag: string, keys: readonly string[], at: Date | undefined): Promise<readonly NumberJson[]> {
    return this.open(async (numbers) => {
      const answers = await numbers.issue(tag, keys, actor(), at);
      return answers.map(({ number }) => numbers.jsonOf(tag, number));
    });
  }

  confirm(tag: string, key: string): Promise<NumberJson> {
    return this.settle(tag, (numbers) => numbers.confirm(tag, key, actor()));
  }

  void(tag: string, key: string, reason: string): Promise<NumberJson> {
    return this.settle(tag, (numbers) => numbers.void(tag, key, actor(), reason));
  }

  find(tag: string, key: string): Promise<NumberJson> {
    return this.open(async (numbers) => numbers.jsonOf(tag, await numbers.find(tag, key)));
  }

  list(tag: string, { period, state, after, limit }: NumberFilter): Promise<NumberList> {
    return this.open(async (numbers) => {
      const found = await numbers.list(tag, { period, state, after: parseCursor(after), limit: limit + 1 });
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      return {
        numbers: page.map((number) => numbers.jsonOf(tag, number)),
        next: last === undefined ? null : cursorOf(last),
      };
    });
  }

  audit(tag: string, period: string | undefined): Promise<AuditJson> {
    return this.open(async (numbers) => jsonOfAudit(await numbers.audit(tag, period)));
  }

  continueAfter(tag: string, where: Continuation): Promise<number> {
    return this.open((numbers) => numbers.continueAfter(tag, { ...where, by: actor() }));
  }

  private settle(tag: string, act: (numbers: Numbers) => Promise<NumberAnswer>): Promise<NumberJson> {
    return this.open(async (numbers) => numbers.jsonOf(tag, (await act(numbers)).number));
  }
}

/** Who runs the command, for the journal. */
function actor(): string {
  try {
    return `leaf:${userInfo().username}`.slice(0, MAX_NAME);
  } catch {
    // A user of a container may have no name.
    return `leaf:${process.getuid?.() ?? ''}`;
  }
}
