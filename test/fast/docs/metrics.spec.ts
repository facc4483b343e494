import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LEAF_METRICS } from '@leaf-ids/id/internal';
import { SERVER_METRICS } from '../../../apps/leaf-server/src/metrics/server-metrics';
import type { Family } from '../../support/http/exposition';
import { text } from '../../support/http/http';
import { scrape } from '../../support/http/metrics';
import { startTestServer } from '../../support/servers/server';

/** Each row of docs/metrics.md: name, labels and kind. */
function documented(): Map<string, { kind: string; labels: string[] }> {
  const page = readFileSync(join(__dirname, '../../../docs/metrics.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(leaf_\w+)(?:\{([\w,]+)\})?` \| (\w+) \|/gm)];
  return new Map(
    rows.map(([, name = '', labels, kind = '']) => [name, { kind, labels: (labels ?? '').split(',').filter(Boolean) }]),
  );
}

function labelsOf({ samples }: Family): string[] {
  const names = new Set(samples.flatMap(({ labels }) => Object.keys(labels)));
  names.delete('le');
  return [...names].sort();
}

it('docs/metrics.md is equal to the tables of metrics', () => {
  const tables = [...LEAF_METRICS, ...SERVER_METRICS];
  const rows = tables.map(({ name, type, labels = [] }) => [name, { kind: type, labels: [...labels] }] as const);
  expect([...documented()].sort()).toEqual(rows.sort());
});

it('docs/metrics.md has every metric with its kind and labels, and no other', async () => {
  const server = await startTestServer();
  try {
    for (let i = 0; i < 2; i++) {
      await text(server.port, '/api/segment/get/leaf-segment-test');
      await text(server.port, '/metrics');
    }
    const families = await scrape(server.port);
    const own = [...families.values()].filter(({ name }) => name.startsWith('leaf_'));
    const rows = documented();
    expect(own.map(({ name, kind }) => [name, kind]).sort()).toEqual(
      [...rows].map(([name, { kind }]) => [name, kind]).sort(),
    );
    for (const family of own.filter(({ samples }) => samples.length > 0)) {
      const labels = rows.get(family.name)?.labels.sort();
      expect({ name: family.name, labels: labelsOf(family) }).toEqual({ name: family.name, labels });
    }
  } finally {
    await server.stop();
  }
});
