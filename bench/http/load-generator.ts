import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Cores } from './cores';
import type { Sandbox } from './sandbox';

/** Result of one run against one URL. */
export interface GeneratorReport {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Requests without a response or with a status other than 200; wrk only counts statuses outside 2xx and 3xx. */
  readonly failures: number;
}

export interface LoadGenerator {
  readonly name: string;
  /** @param connections {@link CONNECTIONS} by default */
  run(url: string, seconds: number, connections?: number): Promise<GeneratorReport>;
}

export const CONNECTIONS = 64;
/** Grace period before a run is killed. */
const SLACK_MS = 20_000;

/** wrk, which uses little CPU time; autocannon if wrk is not installed. */
export function chooseGenerator(sandbox: Sandbox, cores: Cores): LoadGenerator {
  const run = (command: readonly string[], seconds: number): Promise<string> =>
    sandbox.run(cores.generator(command), seconds * 1000 + SLACK_MS);
  // wrk -v prints the version and exits with 1.
  const { stdout } = spawnSync('wrk', ['-v'], { encoding: 'utf8' }) as { stdout: string | null };
  const version = /^wrk (\S+)/m.exec(stdout ?? '')?.[1];
  if (version !== undefined) {
    return {
      name: `wrk ${version}`,
      run: async (url, seconds, connections = CONNECTIONS) =>
        parseWrk(await run(['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--latency', url], seconds)),
    };
  }
  const command = [process.execPath, require.resolve('autocannon'), '-p', '1', '--json', '-n'];
  return {
    name: `autocannon ${packageVersion('autocannon')}`,
    run: async (url, seconds, connections = CONNECTIONS) =>
      parseAutocannon(await run([...command, '-c', String(connections), '-d', String(seconds), url], seconds)),
  };
}

/** The version of a package of this repository, even if it does not export its package.json. */
export function packageVersion(name: string): string {
  return (JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')) as { version: string }).version;
}

const UNIT_MS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000 };

function parseWrk(report: string): GeneratorReport {
  const field = (pattern: RegExp): string[] => {
    const match = pattern.exec(report);
    if (match === null) throw new Error(`No ${pattern.source} in the report of wrk:\n${report}`);
    return match.slice(1);
  };
  const time = (pattern: RegExp): number => {
    const [amount = '', unit = ''] = field(pattern);
    return Number(amount) * (UNIT_MS[unit] ?? NaN);
  };
  const [requests, seconds, secondsUnit = ''] = field(/(\d+) requests in ([\d.]+)(us|ms|s|m),/);
  const errors = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(report)?.slice(1) ?? [];
  const refused = /Non-2xx or 3xx responses: (\d+)/.exec(report)?.slice(1) ?? [];
  return {
    requests: Number(requests),
    seconds: (Number(seconds) * (UNIT_MS[secondsUnit] ?? NaN)) / 1000,
    p50Ms: time(/^\s+50%\s+([\d.]+)(us|ms|s|m) *$/m),
    p99Ms: time(/^\s+99%\s+([\d.]+)(us|ms|s|m) *$/m),
    failures: [...errors, ...refused].reduce((sum, count) => sum + Number(count), 0),
  };
}

interface AutocannonReport {
  readonly duration: number;
  readonly errors: number;
  readonly timeouts: number;
  readonly requests: { readonly total: number };
  readonly latency: { readonly p50: number; readonly p99: number };
  readonly statusCodeStats: Readonly<Record<string, { readonly count: number }>>;
}

function parseAutocannon(json: string): GeneratorReport {
  const { duration, errors, timeouts, requests, latency, statusCodeStats } = JSON.parse(json) as AutocannonReport;
  const others = Object.entries(statusCodeStats).filter(([code]) => code !== '200');
  const failures = others.reduce((sum, [, { count }]) => sum + count, errors + timeouts);
  return { requests: requests.total, seconds: duration, p50Ms: latency.p50, p99Ms: latency.p99, failures };
}
