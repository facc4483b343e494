import { ClientRig } from '../../../test/support/http/client-rig';
import { watch } from '../../../test/support/watch';
import { PeriodRequests } from './direct-requests';

describe('PeriodRequests', () => {
  function answering(...answers: unknown[]): {
    readonly requests: PeriodRequests;
    readonly paths: string[];
    rig: ClientRig;
  } {
    const rig = new ClientRig();
    const paths: string[] = [];
    const get = <T>(_route: unknown, path: string, read: (body: unknown) => T): Promise<T> => {
      paths.push(path);
      const answer = answers.shift();
      return answer === undefined ? new Promise(() => undefined) : Promise.resolve(answer).then(read);
    };
    return { requests: new PeriodRequests({ ...rig.context, requester: { get } }), paths, rig };
  }
  const ofPeriod = (period: unknown, from: number, to = from): unknown => ({
    tag: 'invoice',
    period,
    ranges: [{ from: String(from), to: String(to) }],
  });

  it('requests the period of a point in time', async () => {
    const { requests, paths } = answering(ofPeriod('2026-11', 1), ofPeriod('2026-11', 2, 4));
    expect(await requests.take('invoice', 1, undefined)).toEqual({ period: '2026-11', ranges: [{ from: 1n, to: 1n }] });
    await requests.take('invoice', 3, new Date('2026-11-22T10:00:00Z'));
    expect(paths).toEqual([
      '/api/segment/period/invoice?size=1',
      '/api/segment/period/invoice?size=3&at=2026-11-22T10%3A00%3A00.000Z',
    ]);
  });

  it.each([undefined, 2026, '2026-1', '26-11-22', '2026-11-22-33'])('refuses the period %p', async (period) => {
    const { requests } = answering(ofPeriod(period, 1));
    await expect(requests.take('invoice', 1, undefined)).rejects.toThrow('it has no period');
  });

  it('refuses a repeated response, and accepts the same numbers of another period', async () => {
    const { requests } = answering(ofPeriod('2026-11', 5), ofPeriod('2026-12', 5), ofPeriod('2026-11', 5));
    await requests.take('invoice', 1, undefined);
    await requests.take('invoice', 1, undefined);
    await expect(requests.take('invoice', 1, undefined)).rejects.toThrow('it repeated numbers of tag "invoice"');
  });

  it('times out, and frees its place', async () => {
    const { requests, rig } = answering();
    const call = watch(requests.take('invoice', 1, undefined));
    await rig.settle();
    expect(rig.callerLimit.waiting).toBe(1);
    await rig.clock.advance(rig.context.timeoutMs);
    expect(call.code).toBe('LEAF_SERVERS_UNAVAILABLE');
    expect(rig.callerLimit.waiting).toBe(0);
  });
});
