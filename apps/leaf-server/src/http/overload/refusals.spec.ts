import { once } from 'node:events';
import { Agent, createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FakeClock } from '@leaf-ids/core/testing';
import { type Answer, call } from '../../../../../test/support/http/http';
import { until } from '../../../../../test/support/until';
import { watch } from '../../../../../test/support/watch';
import { OverloadResponder } from './refusals';

const REFUSED = {
  status: 503,
  headers: { 'retry-after': '1', 'content-type': 'application/problem+json; charset=utf-8' },
};

describe('OverloadResponder', () => {
  let clock: FakeClock;
  let server: Server;
  let port: number;
  let agent: Agent;

  beforeEach(async () => {
    clock = new FakeClock();
    const refusals = new OverloadResponder(clock);
    server = createServer((request, response) => {
      if (refusals.isHasty(request.socket)) void refusals.refuseLater(response);
      else refusals.refuse(response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
    agent = new Agent({ keepAlive: true, maxSockets: 1 });
  });

  afterEach(async () => {
    agent.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const ask = (options?: { agent: Agent }): Promise<Answer> => call(port, '/', options);

  it('come at once, and later to whoever does not stay away on the same connection', async () => {
    expect(await ask({ agent })).toMatchObject(REFUSED);
    const hasty = watch(ask({ agent }));
    await until('the refusal to be held', () => clock.sleeping === 1);
    expect(await ask()).toMatchObject(REFUSED);
    expect(hasty.settled).toBe(false);
    await clock.advance(500);
    await until('the refusal', () => hasty.settled);
    expect(hasty.value).toMatchObject(REFUSED);
  });

  it('come one after the other to those who come at the same time', async () => {
    const crowd = new Agent({ keepAlive: true, maxSockets: 100 });
    const all = (): Promise<Answer>[] => Array.from({ length: 100 }, () => ask({ agent: crowd }));
    await Promise.all(all());
    const hasty = all().map((answer) => watch(answer));
    await until('the refusals to be held', () => clock.sleeping === 100);
    const settled = (): number => hasty.filter((each) => each.settled).length;
    await clock.advance(510);
    await until('the first refusals', () => clock.sleeping < 100 && settled() === 100 - clock.sleeping);
    expect(settled()).toBeLessThan(30);
    await clock.advance(40);
    await until('the other refusals', () => settled() === 100);
    crowd.destroy();
  });

  it('come at once again to whoever has stayed away', async () => {
    await ask({ agent });
    await clock.advance(1000);
    expect(await ask({ agent })).toMatchObject(REFUSED);
    expect(clock.sleeping).toBe(0);
  });

  it('go to nobody once the connection is gone', async () => {
    await ask({ agent });
    const hasty = watch(ask({ agent }));
    await until('the refusal to be held', () => clock.sleeping === 1);
    agent.destroy();
    await until('the end of the request', () => hasty.settled);
    await until('the end of the connection', async () => {
      const count = await new Promise<number>((resolve) => server.getConnections((_error, all) => resolve(all)));
      return count === 0;
    });
    await clock.advance(500);
    expect(clock.sleeping).toBe(0);
    expect(await ask()).toMatchObject(REFUSED);
  });
});
