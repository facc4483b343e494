import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VARIABLES } from '../../../apps/leaf-server/src/config/variables';
import { ROOT } from '../../support/build';

/** The longest stop of a server with several processes after its drain (docs/operations/processes.md), in milliseconds. */
const AFTER_DRAIN_MS = 30_000;
const { default: drainMs } = VARIABLES.LEAF_SHUTDOWN_DRAIN_MS;

const unit = readFileSync(join(ROOT, 'deploy/systemd/leaf.service'), 'utf8');
const ecosystem = readFileSync(join(ROOT, 'deploy/pm2/ecosystem.config.cjs'), 'utf8');
const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { bin: Record<string, string> };

describe.each([
  { name: 'the unit for systemd', text: unit, killMs: 1000 * Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]) },
  {
    name: 'the file for PM2',
    text: ecosystem,
    killMs: Number(/kill_timeout: ([\d_]+)/.exec(ecosystem)?.[1]?.replace('_', '')),
  },
])('$name', ({ text, killMs }) => {
  it('starts the server', () => {
    expect(text).toContain(`/opt/leaf/${bin['leaf-server']}`);
  });

  it('sets variables that exist', () => {
    const names = [...text.matchAll(/\b(LEAF_[A-Z_]+)\b/g)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !Object.hasOwn(VARIABLES, name))).toStrictEqual([]);
  });

  it('lets the server stop in order', () => {
    expect(killMs).toBeGreaterThan(Number(drainMs) + AFTER_DRAIN_MS);
  });
});

it('compiled code is kept where only the user of the server has access', () => {
  expect(unit).toContain('\nCacheDirectory=leaf\nCacheDirectoryMode=0700\nEnvironment=NODE_COMPILE_CACHE=%C/leaf\n');
});

it('only the first process gets the signal', () => {
  expect(unit).toContain('\nKillMode=mixed\n');
  expect(ecosystem).toContain('treekill: false');
});
