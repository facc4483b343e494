import { setTimeout as sleep } from 'node:timers/promises';
import { beginTransaction } from '../support/servers/transactions';
import type { Ledger } from './ledger';
import { PLAIN, TAGS } from './tags';

const PAUSE_MS = 300;

/**
 * A server of the Java service beside the others, by its statements. It takes ranges of the plain tag, and tries tags
 * with settings, whose rows must refuse it.
 */
export class JavaCaller {
  /** How often rows with settings refused it. */
  refused = 0;
  private readonly index: number;

  constructor(
    private readonly url: string,
    private readonly ledger: Ledger,
  ) {
    this.index = ledger.history.addCaller('Java service');
  }

  async run(isRunning: () => boolean): Promise<void> {
    for (let turn = 0; isRunning(); turn++) {
      await this.take(PLAIN);
      const { tag } = TAGS[turn % TAGS.length]!;
      if (tag !== PLAIN) await this.take(tag);
      await sleep(PAUSE_MS);
    }
  }

  private async take(tag: string): Promise<void> {
    const { ledger } = this;
    const transaction = await beginTransaction(this.url);
    try {
      await transaction.statement(`UPDATE leaf_alloc SET max_id = max_id + step WHERE biz_tag = '${tag}'`);
      const [row] = await transaction.statement<{ max_id: string; step: number }[]>(
        `SELECT CAST(max_id AS CHAR(20)) AS max_id, step FROM leaf_alloc WHERE biz_tag = '${tag}'`,
      );
      await transaction.end('COMMIT');
      if (row === undefined) return;
      if (tag !== PLAIN) ledger.fault(`the Java service could take ${row.max_id} of ${tag}`);
      ledger.add(`tag ${tag}`, this.index, BigInt(row.max_id.trim()) - BigInt(row.step), row.step);
    } catch (error) {
      transaction.close();
      const { message } = error as Error;
      if (tag !== PLAIN && /out of range/.test(message)) this.refused++;
      // Two servers of the Java service can deadlock.
      else if (!/deadlock/i.test(message)) ledger.fault(`the Java service, ${tag}: ${message}`);
    }
  }
}
