import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '../../support/build';
import { type Cell, CELLS, HEADER, rowOf } from './cells';

const FILE = join(ROOT, 'node_modules/.cache/leaf-matrix/results.json');

/** For `node test/applications/matrix/run.mjs --write-docs`. A run that left cells out is not kept. */
export function keepResults(shown: readonly Cell[]): void {
  if (shown.length < CELLS.length) return;
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, `${JSON.stringify({ header: HEADER, rows: shown.map(rowOf) }, undefined, 2)}\n`);
}
