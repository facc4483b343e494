import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCertificates } from './certificate-files';

describe('the files of certificates', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'leaf-certificates-'));
    for (const name of ['ca', 'cert', 'key']) await writeFile(join(directory, name), `the ${name}\n`);
  });
  afterAll(() => rm(directory, { recursive: true }));

  const path = (name: string): string => join(directory, name);

  it('are read where they are given', async () => {
    expect(await readCertificates({})).toStrictEqual({});
    expect(await readCertificates({ caFile: path('ca') })).toStrictEqual({ ca: 'the ca\n' });
    const files = { certFile: path('cert'), keyFile: path('key') };
    expect(await readCertificates(files)).toStrictEqual({ cert: 'the cert\n', key: 'the key\n' });
  });

  it('cannot be left out once they are given', async () => {
    await expect(readCertificates({ caFile: path('missing') })).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
