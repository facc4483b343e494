import { rm } from 'node:fs/promises';
import { ensureBuilt } from '../support/build';
import { freePort, freePorts } from '../support/free-port';
import { ADMIN_TOKEN } from '../support/http/admin';
import { blocksOf, readPage } from '../support/pages';
import { startMariadb } from '../support/servers/mariadb';
import { makeClone, type Step, stepsOf, Terminal } from '../support/terminal';

/** Differs at each run: the ID of a moment, and the time of a change. */
const CHANGING = [/^\d{19}$/, /"updatedAt":"[^"]+"/] as const;
const withoutChanging = (text: string): string => CHANGING.reduce((left, part) => left.replace(part, '…'), text.trim());

let clone: string;
const terminals: Terminal[] = [];

beforeAll(ensureBuilt);
beforeEach(async () => (clone = await makeClone()));
afterEach(async () => {
  await Promise.all(terminals.splice(0).map((terminal) => terminal.close()));
  await rm(clone, { recursive: true });
});

async function openTerminal(env: NodeJS.ProcessEnv): Promise<Terminal> {
  const terminal = await Terminal.open(clone, { LEAF_HOST: '127.0.0.1', LEAF_SHUTDOWN_DRAIN_MS: '0', ...env });
  terminals.push(terminal);
  return terminal;
}

/** Runs each command, with other ports, and compares what it writes with what the page shows. */
async function check(terminal: Terminal, steps: Step[], ports: Record<string, string | number>): Promise<void> {
  for (const { command, shown } of steps) {
    const line = Object.entries(ports).reduce(
      (text, [shownPort, port]) => text.replaceAll(shownPort, `${port}`),
      command,
    );
    const written = await terminal.run(line);
    if (shown !== undefined) expect(withoutChanging(written)).toBe(withoutChanging(shown));
  }
}

it('README shows commands that answer in their order as it says', async () => {
  const [start = '', ...blocks] = blocksOf(readPage('README.md'), 'sh');
  const port = await freePort();
  const server = await openTerminal({ LEAF_PORT: String(port), LEAF_ADMIN_TOKEN: ADMIN_TOKEN });
  await server.run(`${start.replace('npm ci && ', '').trim()} &`);
  await server.shows('Listening on');
  const steps = blocks.flatMap(stepsOf);
  expect(steps.filter(({ shown }) => shown !== undefined)).toHaveLength(5);
  expect(blocks.join('')).toBe(steps.map(({ command, shown }) => `${command}\n# ${shown}\n`).join(''));
  await check(server, steps, { 8080: port });
});

it('the quick start shows commands that answer in their order as it says', async () => {
  const page = readPage('docs/quick-start.md');
  const [one = '', take = '', two = '', both = '', ...others] = blocksOf(page, 'sh');
  expect(others).toStrictEqual([]);
  const [port, first, second] = await freePorts(3);
  const server = await openTerminal({ LEAF_PORT: String(port) });
  const secret = await server.run(one.replace('npm ci && npm run build\n', '').replace('npm start', 'npm start &'));
  await server.shows('Listening on');
  const token = /^export LEAF_ADMIN_TOKEN=\w{64}$/m.exec(secret)![0];
  const reader = await openTerminal({});
  await reader.run(token);
  await check(reader, stepsOf(take), { 8080: port! });
  await server.run('kill %1; wait %1 || true');

  const mariadb = await startMariadb();
  try {
    await mariadb.query(blocksOf(page, 'sql').join(''));
    const [setting, ...starts] = stepsOf(two);
    for (const { command } of starts) {
      const terminal = await openTerminal({});
      await terminal.run(`${token}\n${setting!.command.replace('3306', String(mariadb.port))}`);
      await check(terminal, [{ command: `${command} &`, shown: undefined }], { 8081: first!, 8082: second! });
      await terminal.shows('Listening on');
    }
    // "Create the tag as above"
    await check(reader, stepsOf(take).slice(0, 1), { 8080: first! });
    expect(stepsOf(both).map(({ shown }) => shown)).toEqual(['1', '2001']);
    await check(reader, stepsOf(both), { 8081: first!, 8082: second! });
  } finally {
    await Promise.all(terminals.splice(0).map((terminal) => terminal.close()));
    await mariadb.stop();
  }
});
