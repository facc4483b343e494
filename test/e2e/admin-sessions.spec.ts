import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ADMIN_TOKEN } from '../support/http/admin';
import { startTestServer } from '../support/servers/server';

interface Step {
  readonly command: string;
  readonly shown: string;
}

const page = readFileSync(join(__dirname, '../../docs/http-api.md'), 'utf8');
const sessions = page.split('### Sessions')[1]?.split('\n## ')[0] ?? '';
const blocks = [...sessions.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block!);
const steps: Step[] = blocks.flatMap((block) =>
  [...block.matchAll(/^(curl (?:.*\\\n)*.*)\n# (.*)$/gm)].map(([, command, shown]) => ({
    command: command!,
    shown: shown!,
  })),
);

/** Method and route of a command. */
function routeOf({ command }: Step): string {
  const method = /-X (\w+)/.exec(command)?.[1] ?? 'GET';
  const path = /127\.0\.0\.1:8080(\S+)/.exec(command)?.[1] ?? '';
  return `${method} ${path.replace(/^(\/api\/tags\/)\w+/, '$1:tag')}`;
}

/** Without what differs from run to run. */
function stable(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
    .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, '<id>');
}

describe('the sessions of docs/http-api.md', () => {
  it('show every admin route', () => {
    expect(new Set(steps.map(routeOf))).toEqual(
      new Set([
        'GET /api/tags',
        'GET /api/tags/:tag',
        'POST /api/tags',
        'PATCH /api/tags/:tag',
        'DELETE /api/tags/:tag',
        'POST /api/tags/:tag/pause',
        'POST /api/tags/:tag/resume',
        'POST /api/server/drain',
        'DELETE /api/server/drain',
        'GET /api/segment/get/order',
        'GET /health/ready',
      ]),
    );
  });

  it('leave no line that is not run', () => {
    const lines = steps.flatMap(({ command, shown }) => [...command.split('\n'), `# ${shown}`]);
    expect(lines).toEqual(blocks.flatMap((block) => block.trim().split('\n')));
  });

  it('answer as they say', async () => {
    const server = await startTestServer({ LEAF_ADMIN_TOKEN: ADMIN_TOKEN });
    try {
      for (const { command, shown } of steps) {
        const line = command.replace('127.0.0.1:8080', `127.0.0.1:${server.port}`).replace(/^curl/, 'curl -sS');
        expect([command, stable(await run(line))]).toEqual([command, stable(shown)]);
      }
    } finally {
      await server.stop();
    }
  });
});

/** Asynchronously: the server that answers lives in this process. */
async function run(command: string): Promise<string> {
  const env = { PATH: process.env.PATH, LEAF_ADMIN_TOKEN: ADMIN_TOKEN };
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { env });
  return stdout.trim();
}
