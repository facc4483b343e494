import 'reflect-metadata';
import { readdir } from 'node:fs/promises';
import { Logger } from '@nestjs/common';
import { Leaf, type LeafOptions } from '@leaf-ids/id';

const options = {
  database: 'sqlite::memory:',
  tags: ['order', { tag: 'invoice', step: 10, reset: 'yearly' }],
  snowflake: { reportMs: 20 },
} satisfies LeafOptions;

describe('sqlite::memory:', () => {
  let leaf: Leaf | undefined;
  let warn: jest.SpyInstance;

  beforeAll(() => {
    Logger.overrideLogger(false);
  });
  beforeEach(() => (warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue()));
  afterEach(async () => {
    await leaf?.stop();
    jest.restoreAllMocks();
  });

  it('serves both modes at once, leaves no file, and the log says that nothing lasts', async () => {
    const before = await readdir('.');
    for (let start = 0; start < 2; start++) {
      leaf = await Leaf.start(options);
      expect(await leaf.ids.nextIds('order', 5000)).toHaveLength(5000);
      expect((await leaf.ids.nextInPeriod('invoice')).number).toBe(1n);
      const last = leaf.ids.snowflake();
      // Long enough for reports of the lease.
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(leaf.ids.snowflake()).toBeGreaterThan(last);
      expect(leaf.status().registry?.health).toEqual({ status: 'up' });
      expect(await leaf.ids.nextId('order')).toBe(5001n);
      await leaf.stop();
    }
    const notes = warn.mock.calls.flat().filter((text) => String(text).includes('in memory: nothing lasts'));
    expect(notes).toHaveLength(2);
    expect(await readdir('.')).toEqual(before);
  });
});
