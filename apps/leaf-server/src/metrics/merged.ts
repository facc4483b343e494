import { LEAF_METRICS, type Line, type MetricReading } from '@leaf-ids/id/internal';
import type { Gathered } from '../processes/process-bus';
import type { LazyReading } from './exposition';
import { SERVER_METRICS } from './server-metrics';

type Readings = Gathered<readonly MetricReading[]>;
type Reading = { readonly process: number; readonly reading: MetricReading };

const SHARED = new Map([...LEAF_METRICS, ...SERVER_METRICS].map(({ name, shared }) => [name, shared]));

/**
 * The metrics of several processes. Each line has the label `process`: the counter of a process that was replaced starts
 * from 0, and that of a process without an answer is absent. A sum over the processes would fall then, which readers
 * would take for new events. Only what all processes read of the same thing has one line.
 */
export function* merged(readings: Readings): Generator<LazyReading> {
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
    const shared = SHARED.get(name);
    yield { name, help, type, values: shared === undefined ? linesOfEach(each) : extremes(each, shared) };
  }
  yield processUp(readings);
}

function processUp({ answers, missing }: Readings): MetricReading {
  const line = ({ process }: { readonly process: number }, value: number): Line => ({ labels: { process }, value });
  return {
    name: 'leaf_process_up',
    type: 'gauge',
    help: '1 if the process of this server responds',
    values: [...answers.map((each) => line(each, 1)), ...missing.map((each) => line(each, 0))],
  };
}

function* linesOfEach(readings: readonly Reading[]): Generator<Line> {
  for (const { process, reading } of readings) {
    for (const line of reading.values) yield { ...line, labels: { ...line.labels, process } };
  }
}

function extremes(readings: readonly Reading[], shared: 'least' | 'most'): Line[] {
  const lines = new Map<string, Line>();
  for (const line of readings.flatMap(({ reading }) => reading.values)) {
    const key = JSON.stringify(line.labels);
    const before = lines.get(key);
    const counts = before === undefined || (shared === 'least' ? line.value < before.value : line.value > before.value);
    if (counts) lines.set(key, line);
  }
  return [...lines.values()];
}
