import { addMetrics, addReading, LEAF_METRICS, type Line, type Metric, type MetricReading } from '@leaf-ids/id';
import { Registry } from 'prom-client';
import type { Gathered } from '../cluster/worker-bus';
import { SERVER_METRICS } from './server-metrics';

type Readings = Gathered<readonly MetricReading[]>;
type Reading = { readonly process: number; readonly reading: MetricReading };

const SHARED = new Map([...LEAF_METRICS, ...SERVER_METRICS].map(({ name, shared }) => [name, shared]));

const PROCESS_UP: Metric<Readings> = {
  name: 'leaf_process_up',
  type: 'gauge',
  help: '1 for a process of this server that answers',
  labels: ['process'],
  read: ({ answers, missing }) => [
    ...answers.map(({ process }) => ({ labels: { process }, value: 1 })),
    ...missing.map(({ process }) => ({ labels: { process }, value: 0 })),
  ],
};

/**
 * What several processes tell, as one text. Each line carries its process as a label, so that the counter of a process that
 * was replaced begins anew as counters do, and that of one that does not answer is absent: a sum would fall, and what reads
 * it would take that for new events. Only what all tell of the same thing is told once.
 */
export async function merged(readings: Readings): Promise<string> {
  const registry = new Registry();
  const byName = new Map<string, Reading[]>();
  for (const { process, value } of readings.answers) {
    for (const reading of value) {
      const others = byName.get(reading.name);
      if (others === undefined) byName.set(reading.name, [{ process, reading }]);
      else others.push({ process, reading });
    }
  }
  for (const [name, each] of byName) {
    const { help = '', type = 'gauge' } = each[0]?.reading ?? {};
    addReading(registry, name, { help, type }, () => linesOf(each, SHARED.get(name)));
  }
  addMetrics(registry, [PROCESS_UP], () => readings);
  return registry.metrics();
}

function linesOf(readings: readonly Reading[], shared: 'least' | 'most' | undefined): Line[] {
  if (shared === undefined) {
    return readings.flatMap(({ process, reading }) =>
      reading.values.map((line) => ({ ...line, labels: { ...line.labels, process } })),
    );
  }
  const lines = new Map<string, Line>();
  for (const line of readings.flatMap(({ reading }) => reading.values)) {
    const key = JSON.stringify(line.labels);
    const before = lines.get(key);
    const counts = before === undefined || (shared === 'least' ? line.value < before.value : line.value > before.value);
    if (counts) lines.set(key, line);
  }
  return [...lines.values()];
}
