import { Logger } from '@nestjs/common';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { LeafError } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import { FailureLimit, TokenCheck, TokenGuard } from './token-check';

const RIGHT = 'Bearer right';
const NEEDED = { code: 'LEAF_UNAUTHORIZED', message: 'Send a token.' };
const WAIT = {
  code: 'LEAF_TOO_MANY_FAILURES',
  message:
    'This address sent too many requests without a valid token. Correct the token, or wait for the rest of the minute; a valid token is accepted at any time.',
  retryAfterMs: 60_000,
};

interface Answer {
  readonly body: unknown;
  /** The header `WWW-Authenticate`. */
  readonly challenge: unknown;
}

describe.each([true, false])('TokenCheck, which counts a missing token: %s', (countsMissing) => {
  let server: FastifyInstance;
  let warn: jest.SpyInstance;
  beforeEach(() => {
    warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    const check = new TokenCheck({ needed: NEEDED.message, countsMissing }, new FailureLimit(new FakeClock()));
    server = fastify();
    server.get('/ids/:tag', (request, reply) =>
      check.require(request, reply, (given) => (given === RIGHT ? { found: given } : undefined)),
    );
    server.setErrorHandler((error, _request, reply) => {
      const { code, message, retryAfterMs } = error as LeafError;
      return reply.send({ code, message, ...(retryAfterMs !== undefined && { retryAfterMs }) });
    });
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await server.close();
  });

  async function ask(headers: Record<string, string>, remoteAddress = '10.0.0.7'): Promise<Answer> {
    const answer = await server.inject({ url: '/ids/order', headers, remoteAddress });
    return { body: answer.json(), challenge: answer.headers['www-authenticate'] };
  }
  async function askTimes(times: number, headers: Record<string, string>): Promise<Answer> {
    for (let n = 1; n < times; n++) await ask(headers);
    return ask(headers);
  }

  it('returns what belongs to the token', async () => {
    expect(await ask({ authorization: RIGHT })).toEqual({ body: { found: RIGHT }, challenge: undefined });
    expect(warn).not.toHaveBeenCalled();
  });

  it('refuses a wrong token, and after ten of them tells the address to wait, but admits a right one', async () => {
    const wrong = { authorization: 'Bearer wrong' };
    const refused = { body: NEEDED, challenge: 'Bearer realm="leaf", error="invalid_token"' };
    expect(await ask(wrong)).toEqual(refused);
    expect(warn.mock.calls).toEqual([['Refused: GET /ids/:tag from 10.0.0.7 without a valid token.']]);
    expect(await askTimes(9, wrong)).toEqual(refused);
    expect(await ask(wrong)).toEqual({ body: WAIT, challenge: undefined });
    expect(warn).toHaveBeenCalledTimes(10);
    expect((await ask(wrong, '10.0.0.8')).body).toEqual(NEEDED);
    expect((await ask({ authorization: RIGHT })).body).toEqual({ found: RIGHT });
  });

  it.each<[string, Record<string, string>, counted: boolean]>([
    ['a program', {}, true],
    ['the address bar', { 'sec-fetch-site': 'none' }, true],
    ['its own page', { 'sec-fetch-site': 'same-origin' }, true],
    ['a page of another site', { 'sec-fetch-site': 'cross-site' }, false],
    ['a page of a neighbour', { 'sec-fetch-site': 'same-site' }, false],
  ])('refuses a request of %s without a token', async (_, headers, counted) => {
    const refused = { body: NEEDED, challenge: 'Bearer realm="leaf"' };
    expect(await askTimes(10, headers)).toEqual(refused);
    const isCounted = counted && countsMissing;
    expect(await ask(headers)).toEqual(isCounted ? { body: WAIT, challenge: undefined } : refused);
    expect(warn).toHaveBeenCalledTimes(isCounted ? 10 : 0);
  });

  it('counts a wrong token that a page of another site sends', async () => {
    const headers = { authorization: 'Bearer wrong', 'sec-fetch-site': 'cross-site' };
    await askTimes(10, headers);
    expect((await ask(headers)).body).toEqual(WAIT);
  });

  it('knows no more of another protocol than its address and its action', () => {
    const check = new TokenCheck({ needed: NEEDED.message, countsMissing }, new FailureLimit(new FakeClock()));
    const attempt = { address: '10.0.0.9', action: 'AUTH', given: undefined };
    expect(check.requireOf(attempt, () => 'found')).toBe('found');
    expect(() => check.requireOf(attempt, () => undefined)).toThrow(check.refusal());
    expect(check.refusal()).toMatchObject(NEEDED);
    const line = 'Refused: AUTH from 10.0.0.9 without a valid token.';
    expect(warn.mock.calls).toEqual(countsMissing ? [[line]] : []);
  });
});

it('a guard admits what its check admits', () => {
  const [request, reply] = [{} as FastifyRequest, {} as FastifyReply];
  const asked: unknown[] = [];
  class Guard extends TokenGuard {
    admit(...given: unknown[]): void {
      asked.push(...given);
      if (asked.length > 2) throw new LeafError('LEAF_UNAUTHORIZED', 'no');
    }
  }
  const http = { getRequest: () => request, getResponse: () => reply };
  const context = { switchToHttp: () => http } as unknown as Parameters<Guard['canActivate']>[0];
  const guard = new Guard();
  expect(guard.canActivate(context)).toBe(true);
  expect([asked[0] === request, asked[1] === reply]).toEqual([true, true]);
  expect(() => guard.canActivate(context)).toThrow('no');
});
