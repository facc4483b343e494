import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FakeClock } from '@leaf-ids/core/testing';
import { loadConfig } from '../../config/leaf-config';
import { ServerIdentity } from './server-identity';

describe('ServerIdentity', () => {
  const clock = new FakeClock();
  const identity = (env: NodeJS.ProcessEnv): ServerIdentity => new ServerIdentity(loadConfig(env), clock);

  it('has the version of the package', () => {
    const file = join(__dirname, '../../../../../package.json');
    const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
    expect(identity({}).version).toBe(version);
  });

  it('has the name and the address by which others know it', () => {
    const env = { LEAF_NAME: 'shop', LEAF_ADVERTISE_HOST: '10.0.0.7', LEAF_PORT: '8081' };
    expect(identity(env)).toMatchObject({ name: 'shop', instance: '10.0.0.7:8081', startedAt: clock.now() });
    expect(identity({ ...env, LEAF_ADVERTISE_HOST: 'fd00::7' }).instance).toBe('[fd00::7]:8081');
  });

  it('knows when the next segment is fetched', () => {
    expect(identity({}).prefetchRatio).toBe(0.1);
    expect(identity({ LEAF_SEGMENT_PREFETCH_RATIO: '0.4' }).prefetchRatio).toBe(0.4);
  });
});
