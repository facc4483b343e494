import { type NewTag, Numbers } from '@leaf-ids/core';
import { PeriodCalendar, periodOf, systemRandom } from '@leaf-ids/core/internal';
import { createStores, createTagStore } from '@leaf-ids/persistence';
import type { DatabaseFixture } from './restore.contract';
import { clock } from './sql-stores';

const HOUR_MS = 3_600_000;
const ZONE = 'Europe/Berlin';
const MONTHLY: NewTag = { tag: 'invoice', step: 1, order: 'gapless', reset: 'monthly', zone: ZONE };
const NOW = new Date();
/** In the month before. */
const EARLIER = new Date(NOW.getTime() - 32 * 24 * HOUR_MS);
const LOST = { code: 'LEAF_NUMBERS_HISTORY_LOST' };

/** Contract of every database about periods of numbers without gaps, of which a copy of the data knows nothing. */
export function numberPeriodsContract(name: string, open: () => Promise<DatabaseFixture>): void {
  describe(`${name}, a period of numbers without gaps that the copy of the data lacks`, () => {
    let fixture: DatabaseFixture;
    beforeEach(async () => {
      fixture = await open();
      await createTagStore(fixture.database).create(MONTHLY);
    });
    afterEach(() => fixture.close());

    const execute = (sql: string): Promise<unknown> => fixture.database.query(sql);

    function server(): Numbers {
      const failover = { gapSteps: 10, onFailover: () => undefined };
      const { numbers } = createStores(fixture.database, failover, {}, clock);
      return new Numbers(numbers, clock, systemRandom, { waitMs: 20_000 });
    }

    async function take(key: string, from: Numbers, at = NOW): Promise<bigint> {
      const [answer] = await from.issue('invoice', [key], 'test', at);
      return answer!.number.number;
    }

    const periodAt = (at: Date) => periodOf('monthly', new PeriodCalendar('monthly', ZONE).nameAt(at.getTime()));

    /** The database says that it was promoted `hours` after the period opened. */
    function promotedAt(hours: number): Promise<unknown> {
      const at = new Date(periodAt(NOW).opensAt + hours * HOUR_MS).toISOString().slice(0, 19).replace('T', ' ');
      return execute(`UPDATE leaf_segment_server SET update_time = '${at}'`);
    }

    it('gives no number when another period has lost some', async () => {
      const seeing = server();
      await take('a', seeing);
      await take('b', seeing, EARLIER);
      await take('c', seeing);
      for (const table of ['leaf_number_head', 'leaf_number', 'leaf_number_journal'])
        await execute(`DELETE FROM ${table} WHERE period = '${periodAt(EARLIER).name}'`);
      for (const table of ['leaf_number', 'leaf_number_journal'])
        await execute(`DELETE FROM ${table} WHERE doc_key = 'c'`);
      await execute('UPDATE leaf_number_head SET next_number = 2, position = 1');
      // Not because of a promotion.
      await promotedAt(-10_000);
      await expect(take('d', seeing)).rejects.toMatchObject(LOST);
      await expect(take('e', server(), EARLIER)).rejects.toMatchObject(LOST);
    });

    it('gives no number when it may have been in use at a promotion, by clocks that differ by a day', async () => {
      const first = server();
      await first.watch();
      await execute("UPDATE leaf_segment_server SET server = 'the former primary'");
      await expect(take('a', first)).rejects.toMatchObject(LOST);
      for (const hours of [6, -6]) {
        await promotedAt(hours);
        for (const each of [first, server()]) await expect(take('a', each)).rejects.toMatchObject(LOST);
      }
      await promotedAt(-48);
      expect(await take('a', first)).toBe(1n);
    });
  });
}
