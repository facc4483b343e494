import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readStandIn, type StandIn, writeStandIn } from './stand-in-file';

const INVALID = { code: 'LEAF_WORKER_FILE_INVALID' };
const INSTANCE = '10.0.0.7:8080';

const standIn: StandIn = {
  registry: 'zk_normal (zk1:2181/snowflake/leaf/forever)',
  instance: INSTANCE,
  workerId: 7,
  ceiling: 1_700_000_010_000,
  recorded: 1_700_000_000_000,
  version: '12',
  released: false,
};

describe('a file that stands in for a registry', () => {
  let directory: string;
  let path: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'leaf-stand-in-file-'));
    path = join(directory, 'workerID.properties');
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('is read as it was written', async () => {
    await expect(readStandIn(path, INSTANCE)).resolves.toBeUndefined();
    for (const each of [standIn, { ...standIn, released: true, version: 'a=b' }]) {
      await writeStandIn(path, each);
      await expect(readStandIn(path, INSTANCE)).resolves.toEqual(each);
    }
  });

  it.each<[string, RegExp, string]>([
    ['no number', /^workerID=.*$/m, 'workerID=seven'],
    ['a negative number', /^maxTimestamp=.*$/m, 'maxTimestamp=-1'],
    ['a number beyond all times', /^recordedTimestamp=.*$/m, 'recordedTimestamp=9007199254740992'],
    ['a broken end', /^released=.*$/m, 'released=maybe'],
  ])('is refused with %s', async (_, line, wrong) => {
    await writeStandIn(path, standIn);
    const text = (await readFile(path, 'utf8')).replace(line, wrong);
    await writeFile(path, text);
    await expect(readStandIn(path, INSTANCE)).rejects.toMatchObject(INVALID);
    expect(await readFile(path, 'utf8')).toBe(text);
  });

  it('is refused when it cannot be read', async () => {
    await expect(readStandIn(directory, INSTANCE)).rejects.toMatchObject(INVALID);
  });
});
