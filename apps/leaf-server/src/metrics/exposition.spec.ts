import { FakeClock } from '@leaf-ids/core/testing';
import { addMetrics, type MetricReading } from '@leaf-ids/id/internal';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { SingleProcess } from '../processes/process-bus';
import { TimeSlice } from '../monitor/sampling/time-slice';
import { exposition } from './exposition';
import { ReadingPages } from './reading-pages';

const SERIES = 1777;

function registryOf(series: number): Registry {
  const registry = new Registry();
  const read = (): { labels: { tag: string }; value: number }[] =>
    Array.from({ length: series }, (_, n) => ({ labels: { tag: `"tag\\${n}"\n` }, value: n / 3 }));
  addMetrics(registry, [{ name: 'leaf_by_tag', type: 'gauge', help: 'A "help"', read }], () => undefined);
  addMetrics(registry, [{ name: 'leaf_none', type: 'counter', help: 'None', read: () => undefined }], () => undefined);
  collectDefaultMetrics({ register: registry });
  return registry;
}

async function readingsOf(series: number): Promise<MetricReading[]> {
  return (await registryOf(series).getMetricsAsJSON()) as unknown as MetricReading[];
}

describe('exposition', () => {
  it('is the text of prom-client, and other work passes while it is written', async () => {
    class SlowClock extends FakeClock {
      private ms = 0;
      override monotonic(): number {
        return (this.ms += 2);
      }
    }
    const readings = await readingsOf(SERIES);
    let turns = 0;
    let isDone = false;
    const turn = (): void => {
      if (isDone) return;
      turns++;
      setImmediate(turn);
    };
    turn();
    const text = await exposition(readings, new TimeSlice(new SlowClock()));
    isDone = true;
    expect(turns).toBeGreaterThan(SERIES / 250);
    const registry = new Registry();
    for (const reading of readings) registry.registerMetric({ ...reading, get: () => reading } as never);
    expect(text).toBe(await registry.metrics());
  });
});

describe('ReadingPages', () => {
  it('brings every line of every metric, all read at the same time', async () => {
    const readings = await readingsOf(SERIES);
    const pages = new ReadingPages(new SingleProcess(), () => readings);
    const { answers, missing } = await pages.gather();
    expect(missing).toStrictEqual([]);
    const [found] = answers;
    const slice = new TimeSlice(new FakeClock());
    const lines = async (all: Iterable<MetricReading>): Promise<string[]> =>
      (await exposition(all, slice)).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const byName = new Map<string, MetricReading[]>();
    for (const each of found?.value ?? []) byName.set(each.name, [...(byName.get(each.name) ?? []), each]);
    const joined = [...byName.values()].map((each) => ({ ...each[0]!, values: each.flatMap(({ values }) => values) }));
    expect(await lines(joined)).toEqual(await lines(readings));
    expect(byName.get('leaf_by_tag')?.length).toBeGreaterThan(1);
  });
});
