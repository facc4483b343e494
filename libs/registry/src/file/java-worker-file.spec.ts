import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeDataDirectory, removeDataDirectory } from '../../../../test/support/servers/data-directory';
import { JavaWorkerFile } from './java-worker-file';

const CHANGED = 1_700_000_000_500;
const SERVER = { ip: '10.0.0.7', port: 8080 };

describe('The worker file of the Java service', () => {
  let directory: string;
  beforeEach(async () => (directory = await makeDataDirectory()));
  afterEach(() => removeDataDirectory(directory));

  async function file(text: string, place = 'leaf/leafconf/8080/workerID.properties'): Promise<JavaWorkerFile> {
    const path = join(directory, place);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    await utimes(path, CHANGED / 1000, CHANGED / 1000);
    return new JavaWorkerFile(path, 'leaf');
  }

  it.each([
    ['workerID=7', 7, CHANGED],
    ['workerID=0\n', 0, CHANGED],
    ['workerID=1023\r\n', 1023, CHANGED],
    ['workerID=7\nmaxTimestamp=1700000000000', 7, CHANGED],
    ['workerID=7\nmaxTimestamp=1800000000000\n', 7, 1_800_000_000_000],
  ])('reads %j', async (text, workerId, newest) => {
    expect(await (await file(text)).read(SERVER)).toEqual({ workerId, newest });
  });

  it.each([
    '',
    'workerID=',
    'workerID=seven',
    'workerID=-1',
    'workerID=7\nmaxTimestamp=17000',
    'workerID=7\nport=8080',
  ])('refuses %j', async (text) => {
    expect(await (await file(text)).read(SERVER)).toBe('it is not a complete worker file of the Java service');
  });

  it.each([
    'leaf/leafconf/8081/workerID.properties',
    'other/leafconf/8080/workerID.properties',
    'leaf/8080/workerID.properties',
    'xleaf/leafconf/8080/workerID.properties',
    'leaf/leafconf/8080/worker.properties',
  ])('refuses the file %s of another server', async (place) => {
    expect(await (await file('workerID=7', place)).read(SERVER)).toContain('leaf/leafconf/8080/workerID.properties');
  });

  it('names the fault of a file that cannot be read', async () => {
    const missing = new JavaWorkerFile(join(directory, 'leaf/leafconf/8080/workerID.properties'), 'leaf');
    expect(await missing.read(SERVER)).toContain('ENOENT');
  });
});
