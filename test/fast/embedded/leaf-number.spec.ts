import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Invoice, leafNumberContract, Receipt } from '../../support/contract/leaf-number.contract';
import { openSqliteFile } from '../../support/servers/orm-databases';

const directories: string[] = [];
afterAll(() => Promise.all(directories.map((directory) => rm(directory, { recursive: true }))));

leafNumberContract('an SQLite file', true, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'leaf-number-'));
  directories.push(directory);
  const file = join(directory, 'leaf.sqlite');
  return {
    dataSource: await openSqliteFile(file, [Invoice, Receipt]),
    leaf: { url: `sqlite:${file}`, migrate: true },
  };
});
