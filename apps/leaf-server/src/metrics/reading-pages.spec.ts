import { addMetrics, type Metric, type MetricReading } from '@leaf-ids/id/internal';
import { Registry } from 'prom-client';
import type { Gathered } from '../processes/process-bus';
import { FakeClock } from '@leaf-ids/core/testing';
import { TimeSlice } from '../monitor/sampling/time-slice';
import { exposition } from './exposition';
import { merged } from './reading-pages';

const BUCKETS = [{ bound: 1000, count: 1 }];

/** What a process tells: a counter, two of the metrics that processes share, and a histogram. */
function readingsOf(requests: number, tags: number, left: number): Promise<MetricReading[]> {
  const registry = new Registry();
  const table: Metric<undefined>[] = [
    {
      name: 'requests_total',
      type: 'counter',
      help: 'Requests',
      read: () => [{ labels: { route: '/a' }, value: requests }],
    },
    { name: 'leaf_segment_tags', type: 'gauge', help: 'Tags', read: () => tags },
    { name: 'leaf_epoch_left_seconds', type: 'gauge', help: 'Left', read: () => left },
    {
      name: 'took_seconds',
      type: 'histogram',
      help: 'Took',
      read: () => [{ labels: {}, times: { buckets: BUCKETS, count: 2, sum: 3000 } }],
    },
  ];
  addMetrics(registry, table, () => undefined);
  return registry.getMetricsAsJSON() as unknown as Promise<MetricReading[]>;
}

async function linesOf(gathered: Gathered<readonly MetricReading[]>): Promise<string[]> {
  const text = await exposition(merged(gathered), new TimeSlice(new FakeClock()));
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

describe('The metrics of several processes', () => {
  it('are told for each, but for those of the server, which are told once', async () => {
    const all = await Promise.all([readingsOf(5, 1, 70), readingsOf(7, 3, 60)]);
    const answers = all.map((value, process) => ({ process, value }));
    expect(await linesOf({ answers, missing: [] })).toEqual([
      'requests_total{route="/a",process="0"} 5',
      'requests_total{route="/a",process="1"} 7',
      'leaf_segment_tags 3',
      'leaf_epoch_left_seconds 60',
      'took_seconds_bucket{le="1",process="0"} 1',
      'took_seconds_bucket{le="+Inf",process="0"} 2',
      'took_seconds_sum{process="0"} 3',
      'took_seconds_count{process="0"} 2',
      'took_seconds_bucket{le="1",process="1"} 1',
      'took_seconds_bucket{le="+Inf",process="1"} 2',
      'took_seconds_sum{process="1"} 3',
      'took_seconds_count{process="1"} 2',
      'leaf_process_up{process="0"} 1',
      'leaf_process_up{process="1"} 1',
    ]);
  });

  it('name the process that told nothing', async () => {
    const answers = [{ process: 1, value: await readingsOf(5, 1, 70) }];
    const lines = await linesOf({ answers, missing: [{ process: 0, reason: 'stuck', gone: false }] });
    expect(lines).toContain('requests_total{route="/a",process="1"} 5');
    expect(lines.filter((line) => line.includes('process="0"'))).toEqual(['leaf_process_up{process="0"} 0']);
  });
});
