import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startTestServer } from '../support/servers/server';

const readme = readFileSync(join(__dirname, '../../README.md'), 'utf8');

it('README shows curls that answer as it says', async () => {
  const server = await startTestServer();
  try {
    const [, session] = /^```sh\n(curl .*?)^```/ms.exec(readme)!;
    const steps = [...session!.matchAll(/^(curl .*)\n# (.*)$/gm)];
    expect(steps.length).toBeGreaterThanOrEqual(4);
    for (const [, command, shown] of steps) {
      const line = command!.replace('127.0.0.1:8080', `127.0.0.1:${server.port}`).replace(/^curl/, 'curl -sS');
      const answer = (await promisify(execFile)('sh', ['-c', line])).stdout.trim();
      if (command!.includes('snowflake/get')) expect(answer).toMatch(/^\d{19}$/);
      else expect(answer).toBe(shown);
    }
  } finally {
    await server.stop();
  }
});
