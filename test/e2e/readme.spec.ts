import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ADMIN_TOKEN } from '../support/http/admin';
import { startTestServer } from '../support/servers/server';

const readme = readFileSync(join(__dirname, '../../README.md'), 'utf8');
/** Differs at each run: the ID of a moment, and the time of a change. */
const CHANGING = [/^\d{19}$/, /"updatedAt":"[^"]+"/] as const;

it('README shows curls that answer in their order as it says', async () => {
  const server = await startTestServer({ LEAF_ADMIN_TOKEN: ADMIN_TOKEN });
  try {
    const [, session] = /^```sh\n(curl .*?)^```/ms.exec(readme)!;
    const steps = [...session!.matchAll(/^(curl (?:.*\\\n)*.*)\n# (.*)$/gm)];
    expect(steps.length).toBeGreaterThanOrEqual(5);
    expect(session).toBe(steps.map(([step]) => `${step}\n`).join(''));
    const env = { ...process.env, LEAF_ADMIN_TOKEN: ADMIN_TOKEN };
    const withoutChanging = (text: string): string => CHANGING.reduce((left, part) => left.replace(part, '…'), text);
    for (const [, command, shown] of steps) {
      const line = command!.replace('127.0.0.1:8080', `127.0.0.1:${server.port}`).replace(/^curl/, 'curl -sS');
      const answer = (await promisify(execFile)('sh', ['-c', line], { env })).stdout.trim();
      expect(withoutChanging(answer)).toBe(withoutChanging(shown!));
    }
  } finally {
    await server.stop();
  }
});
