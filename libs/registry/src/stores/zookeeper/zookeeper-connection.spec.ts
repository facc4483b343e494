import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, SystemClock } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import { ZookeeperConnection } from './zookeeper-connection';

/** The parts of a client that the process needs to open it. */
const ANSWERING = `
  state = 3;
  client_id = 'a';
  client_password = 'b';
  on() {}
  init() {}
  a_sync(path, done) { setImmediate(done, 0, 'ok', null); return 0; }
  a_exists(path, watch, done) { setImmediate(done, 0, 'ok', null); return 0; }
`;

describe('ZookeeperConnection', () => {
  let directory: string;

  beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'leaf-client-'))));
  afterAll(() => rmSync(directory, { recursive: true }));

  /** With another client than the real one. */
  function make(source: string, clock: Clock = new SystemClock()): ZookeeperConnection {
    const path = join(directory, 'client.cjs');
    writeFileSync(path, source);
    const endpoint = '127.0.0.1:1';
    return new ZookeeperConnection({ path, endpoint, sessionMs: 1000, auth: undefined, resume: undefined }, clock);
  }

  it('says how to install a package that is there, but does not load', async () => {
    const connection = make(`throw new Error('was not compiled')`);
    await expect(connection.open()).rejects.toMatchObject({
      code: 'LEAF_CONFIG_INVALID',
      message: expect.stringContaining('npm install zookeeper'),
      cause: expect.objectContaining({ message: expect.stringContaining('was not compiled') }),
    });
    await connection.end();
  });

  it('fails when its process ends, and cannot be used again', async () => {
    const connection = make(`module.exports = class { constructor() { process.exit(1); } }`);
    await expect(connection.open()).rejects.toMatchObject({ kind: 'unknown-outcome' });
    expect(connection.usable).toBe(false);
    await expect(connection.exists('/a')).rejects.toMatchObject({ kind: 'unreachable' });
    await connection.end();
  });

  it('fails when its process cannot be started', async () => {
    const { execPath } = process;
    const connection = make(`module.exports = class {${ANSWERING}}`);
    process.execPath = join(directory, 'no-node');
    const opening = connection.open();
    process.execPath = execPath;
    await expect(opening).rejects.toThrow('ENOENT');
    expect(connection.usable).toBe(false);
    await connection.end();
  });

  it('is kept after a call without a reply, unless its process is blocked', async () => {
    const clock = new FakeClock();
    const source = `module.exports = class {${ANSWERING}
      a_get() { return 0; }
      a_set() { for (;;); }
    }`;
    const connection = make(source, clock);
    await connection.open();
    const lost = expect(connection.get('/a')).rejects.toMatchObject({ kind: 'unknown-outcome' });
    await connection.check();
    expect(connection.usable).toBe(true);
    const stuck = expect(connection.set('/a', Buffer.alloc(0), 0)).rejects.toMatchObject({ kind: 'unknown-outcome' });
    const checking = connection.check();
    await clock.advance(1000);
    await checking;
    expect(connection.usable).toBe(false);
    await Promise.all([lost, stuck]);
    await connection.end();
  });

  it('is lost when the client has no socket, after the last reply', async () => {
    const connection = make(`module.exports = class {${ANSWERING}
      a_get(path, watch, done) {
        setImmediate(() => {
          this.state = 0;
          done(0, 'ok', null, Buffer.from(path));
        });
        return 0;
      }
    }`);
    await connection.open();
    const [answered, behind] = await Promise.allSettled([connection.get('/a'), connection.exists('/b')]);
    expect(answered).toMatchObject({ status: 'fulfilled', value: [null, Buffer.from('/a')] });
    expect(behind).toMatchObject({ status: 'rejected', reason: { kind: 'unknown-outcome' } });
    expect(connection.usable).toBe(false);
    await connection.end();
  });

  it('distinguishes sent requests from requests that the client rejected', async () => {
    const connection = make(`module.exports = class {${ANSWERING}
      a_set(path, data, version, done) { setImmediate(done, -4, 'lost'); return 0; }
      a_delete_() { return -4; }
      close() {}
    }`);
    await connection.open();
    await expect(connection.set('/a', Buffer.from('a'), 0)).rejects.toMatchObject({ kind: 'unknown-outcome' });
    await expect(connection.remove('/a', 0)).rejects.toMatchObject({ kind: 'unreachable' });
    await connection.end();
  });

  it('ends a process that hangs when it is to close the client', async () => {
    const connection = make(`module.exports = class {${ANSWERING} close() { for (;;); } }`);
    expect(await connection.open()).toEqual({ client_id: 'a', client_password: 'b' });
    const pending = connection.exists('/a').catch((error: unknown) => error);
    const begun = performance.now();
    await connection.end();
    expect(performance.now() - begun).toBeLessThan(15_000);
    expect(await pending).toMatchObject({ kind: 'unknown-outcome' });
  });
});
