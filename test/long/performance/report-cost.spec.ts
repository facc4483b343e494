import { readdir, readFile } from 'node:fs/promises';
import { ensureBuilt } from '../../support/build';
import { type BuiltServer, BuiltServers } from '../../support/servers/built-server';
import { type CountingHost, MYSQL, ZK_NORMAL } from '../../support/servers/server-registries';
import { until } from '../../support/until';

const REPORT_MS = 3000;
const REPORTS = 5;
/** A server that has just started has some work left. */
const SETTLING_REPORTS = 3;
/** No reports; a server without both modes does not start. */
const NEVER = { LEAF_SNOWFLAKE_ENABLED: 'false', LEAF_SEGMENT_ENABLED: 'true' };
/** As often as is allowed: so many reports that what one costs stands out from all else that a process does. */
const OFTEN_MS = 100;
const OFTEN = { LEAF_SNOWFLAKE_REPORT_MS: String(OFTEN_MS) };
const MANY_REPORTS = 120;
const LIMIT_PERCENT = 1;
/** A report that a busy machine held up may be followed by the next one early. */
const EARLY_REPORTS = 1;

const servers = new BuiltServers();
beforeAll(ensureBuilt);
afterEach(() => servers.end());

/** Milliseconds that all threads of a process have spent on a core. */
async function cpuMs({ pid }: BuiltServer): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const spent = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8')));
  return spent.reduce((sum, line) => sum + Number(line.split(' ')[0]) / 1e6, 0);
}

describe.each([MYSQL, ZK_NORMAL])('a server at rest with the registry $name', ({ start }) => {
  let host: CountingHost;
  beforeAll(async () => {
    host = await start();
  });
  afterAll(() => host.stop());

  async function startServer(port: number, env: NodeJS.ProcessEnv): Promise<BuiltServer> {
    const { env: registry } = await host.open();
    const settings = { LEAF_SEGMENT_ENABLED: 'false', LEAF_ADVERTISE_PORT: String(port), ...registry, ...env };
    return servers.start(await servers.makeDirectory(), settings);
  }

  /** Waits for so many writes more; gives the number of all. */
  async function writes(before: number, count: number): Promise<number> {
    return until('reports', async () => {
      const now = await host.writes();
      return now >= before + count && now;
    });
  }

  /** What share of a core each has used while `act` ran, in percent. */
  async function shares(measured: readonly BuiltServer[], act: () => Promise<void>): Promise<number[]> {
    const before = await Promise.all(measured.map(cpuMs));
    const begun = performance.now();
    await act();
    const wallMs = performance.now() - begun;
    const after = await Promise.all(measured.map(cpuMs));
    return after.map((ms, index) => (100 * (ms - before[index]!)) / wallMs);
  }

  function say(line: string): void {
    process.stdout.write(`${expect.getState().currentTestName}: ${line}\n`);
  }

  it('writes once a report interval', async () => {
    const pair = [await startServer(8080, {}), await startServer(8081, NEVER)];
    const before = await writes(await host.writes(), SETTLING_REPORTS);
    const begun = performance.now();
    let count = 0;
    const [usual = 0, never = 0] = await shares(pair, async () => {
      count = (await writes(before, REPORTS)) - before;
    });
    const intervals = (performance.now() - begun) / REPORT_MS;
    say(
      `${count} times in ${intervals.toFixed(2)} intervals; ${usual.toFixed(2)} % of a core, ${never.toFixed(2)} % without`,
    );
    expect(count).toBeLessThanOrEqual(Math.floor(intervals) + 1 + EARLY_REPORTS);
    expect(intervals).toBeLessThan(2 * REPORTS);
  });

  it('takes less than a hundredth of a core for its reports', async () => {
    const pair = [await startServer(8080, OFTEN), await startServer(8081, NEVER)];
    const before = await writes(await host.writes(), MANY_REPORTS / 2);
    const [often = 0, never = 0] = await shares(pair, async () => {
      await writes(before, MANY_REPORTS);
    });
    const each = ((often - never) / 100) * OFTEN_MS;
    const percent = (100 * each) / REPORT_MS;
    say(`${each.toFixed(2)} ms a report, ${percent.toFixed(3)} % of a core with one every ${REPORT_MS} ms`);
    expect(percent).toBeLessThan(LIMIT_PERCENT);
  });
});
