import type { Gathered } from '../cluster/worker-bus';
import { Families, type ReadFamily } from './families';
import { merged } from './merged';

function familiesOf(requests: number, tags: number, left: number): Families {
  const families = new Families();
  families.counter('requests_total', 'Requests', () => [{ labels: { route: '/a' }, value: requests }]);
  families.gauge('tags', 'Tags', () => tags, 'most');
  families.gauge('left_seconds', 'Left', () => left, 'least');
  const buckets = [{ bound: 1000, count: 1 }];
  families.histogram('took_seconds', 'Took', () => [{ labels: {}, times: { buckets, count: 2, sum: 3000 } }]);
  return families;
}

async function linesOf(gathered: Gathered<readonly ReadFamily[]>, { shared }: Families): Promise<string[]> {
  return (await merged(gathered, shared)).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

describe('The figures of several processes', () => {
  it('are told for each, but for those of the server, which are told once', async () => {
    const all = [familiesOf(5, 1, 70), familiesOf(7, 3, 60)] as const;
    const answers = await Promise.all(
      all.map(async (families, process) => ({ process, value: await families.read() })),
    );
    expect(await linesOf({ answers, missing: [] }, all[0])).toEqual([
      'requests_total{route="/a",process="0"} 5',
      'requests_total{route="/a",process="1"} 7',
      'tags 3',
      'left_seconds 60',
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

  it('name the process that said nothing', async () => {
    const families = familiesOf(5, 1, 70);
    const answers = [{ process: 1, value: await families.read() }];
    const lines = await linesOf({ answers, missing: [{ process: 0, reason: 'stuck', gone: false }] }, families);
    expect(lines).toContain('requests_total{route="/a",process="1"} 5');
    expect(lines.filter((line) => line.includes('process="0"'))).toEqual(['leaf_process_up{process="0"} 0']);
  });
});
