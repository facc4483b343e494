import { join } from 'node:path';
import { ensureBuilt, ROOT } from '../support/build';
import { run } from '../support/servers/services';

const KIT = join(ROOT, 'test/conformance');

beforeAll(ensureBuilt);

it('LeafClient keeps to every rule of the conformance kit', async () => {
  const { stdout } = await run(process.execPath, [join(KIT, 'run.mjs'), '--client', 'node']);
  expect(stdout).toMatch(/^\d+ passed, 0 failed$/m);
}, 180_000);

it('the conformance kit names the rule that a client breaks', async () => {
  const { stdout } = await run(process.execPath, [join(KIT, 'broken.mjs'), 'node', '--only', 'The lease is derived']);
  expect(stdout).toContain('FAILED: a restart: lease ');
  expect(stdout).toMatch(/^1 passed, 0 failed$/m);
}, 120_000);

it.each([[[]], [['--client', 'node', '--command', 'node']], [['--client', 'cobol']]])(
  'the conformance kit refuses the arguments %j',
  async (words) => {
    await expect(run(process.execPath, [join(KIT, 'run.mjs'), ...words])).rejects.toThrow(/Usage|There is no client/);
  },
);
