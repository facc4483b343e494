import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { table } from '@leaf-ids/core/internal';
import { ROOT } from '../support/build';
import { LIMITED_BY } from './limited-server';
import type { AttackResult } from './measure';

const FILE = join(ROOT, 'node_modules/.cache/leaf-attack/results.json');
const HEADER = ['attack', 'p99 at rest', 'p99 beside callers', 'p50', 'p99', 'max', 'ratio', 'RSS', 'attacker saw'];

/** For `npm run test:attack -- --write-docs`. A run that left attacks out is not kept. */
export function keepResults(results: readonly AttackResult[], attacks: number): void {
  if (results.length < attacks) return;
  const text = {
    limitedBy: LIMITED_BY,
    date: new Date().toISOString().slice(0, 10),
    header: HEADER,
    rows: rowsOf(results),
  };
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, `${JSON.stringify(text, undefined, 2)}\n`);
}

/** For a terminal; times in milliseconds, memory in MiB. */
export function describeResults(results: readonly AttackResult[]): string {
  return table(HEADER, rowsOf(results)).join('\n');
}

function rowsOf(results: readonly AttackResult[]): string[][] {
  return results.map(({ name, rest, ordinary, during, ratio, peakMib, attacker, ids, alive }) => {
    const times = [rest.p99, ordinary.p99, during.p50, during.p99, during.max].map((ms) => ms.toFixed(1));
    const refused = Object.entries(ids).filter(([status]) => status !== '200');
    const notes = [
      ...Object.entries(attacker).map(([status, count]) => `${count} × ${status}`),
      ...refused.map(([status, count]) => `IDs: ${count} × ${status}`),
      ...(alive ? [] : ['the server ended']),
    ];
    return [name, ...times, ratio.toFixed(1), peakMib.toFixed(0), notes.join(', ')];
  });
}
