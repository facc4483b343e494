import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from '../http/request';
import type { ServerProcess } from '../http/server-process';
import { insertTags, takeIds } from '../memory/tags';
import type { Subject } from '../memory/server-memory';

const LIMIT_MS = 60_000;
const POLL_MS = 5;
/** Warm-up runs: one-time work such as compilation is not measured. */
const WARM_UPS = 3;
const REFRESH_MS = 2000;

export interface TickPlan {
  readonly tags: number;
  /** Number of tags from which an ID is taken before the measurement. */
  readonly used: number;
  readonly seconds: number;
}

/** The longest tick of the event loop in milliseconds, by activity of the server. */
export type Ticks = Readonly<Record<string, number>>;

/** Measures all activities sequentially on one server. */
export async function measureTicks(subject: Subject, { tags, used, seconds }: TickPlan): Promise<Ticks> {
  const folder = subject.folder();
  const file = join(folder, 'ticks.json');
  const env = { LEAF_DATA_DIR: folder, LEAF_SEGMENT_REFRESH_MS: String(REFRESH_MS) };
  await (await subject.start(env)).stop();
  await insertTags(join(folder, 'leaf.sqlite'), tags);
  const recorder = join(__dirname, 'tick-recorder.js');
  const traced = { ...env, LEAF_BENCH_TICKS: file, NODE_OPTIONS: `--require ${recorder}` };
  const server = await subject.start(traced, '/health/ready');
  await takeIds(server.port, used, (index) => index);
  const ticks: Record<string, number> = {};
  const measure = async (name: string, act: () => Promise<unknown>): Promise<void> => {
    for (let run = 0; run < WARM_UPS; run++) await act();
    await longestTick(server, file);
    const end = performance.now() + seconds * 1000;
    while (performance.now() < end) await act();
    ticks[name] = await longestTick(server, file);
  };
  await measure('sampling and refresh alone', () => sleep(REFRESH_MS));
  for (const path of ['/api/tags', '/api/monitor/segments', '/api/monitor/overview', '/metrics', '/cache', '/db']) {
    await measure(`GET ${path}`, () => request(server.port, path, LIMIT_MS));
  }
  await measure('first round of a stream', () => firstRound(server.port));
  await server.kill();
  return ticks;
}

async function longestTick(server: ServerProcess, file: string): Promise<number> {
  rmSync(file, { force: true });
  server.signal('SIGUSR2');
  for (;;) {
    server.assertAlive();
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    if (text !== '') return (JSON.parse(text) as { longestMs: number }).longestMs;
    await sleep(POLL_MS);
  }
}

/** Resolves at the event that ends the first round. */
async function firstRound(port: number): Promise<void> {
  const sent = get({ host: '127.0.0.1', port, path: '/api/monitor/stream', agent: false, timeout: LIMIT_MS });
  const [response] = (await once(sent, 'response')) as [NodeJS.ReadableStream];
  let tail = '';
  for await (const part of response) {
    tail = (tail + String(part)).slice(-100_000);
    if (tail.includes('\nevent: snowflake\n')) break;
  }
  sent.destroy();
}
