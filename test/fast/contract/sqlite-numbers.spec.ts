import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { numbersContract } from '../../support/contract/numbers.contract';
import { numberPeriodsContract } from '../../support/contract/number-periods.contract';
import type { DatabaseFixture } from '../../support/contract/restore.contract';
import { databaseFixture } from '../../support/contract/sql-stores';

async function open(): Promise<DatabaseFixture> {
  const directory = await mkdtemp(join(tmpdir(), 'leaf-numbers-'));
  return databaseFixture(`sqlite:${join(directory, 'leaf.sqlite')}`, () => rm(directory, { recursive: true }));
}

numbersContract('SQLite', open);
numberPeriodsContract('SQLite', open);
