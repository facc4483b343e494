import 'reflect-metadata';
import { Controller, Logger, Post } from '@nestjs/common';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { FakeClock } from '@leaf-ids/core/testing';
import { LastFailure, ProblemFilter } from '../http/responses/problem';
import { ClusterTokens } from '../tokens/cluster-tokens';
import { FailureLimit } from '../tokens/token-check';
import { AdminTokens } from '../tokens/token-set';
import { AdminGuard, AdminOnly, ClusterCommand } from './admin.guard';
import { type Actor, CurrentActor } from './audit';

const OWN = '10.0.0.1:80';
const ADMIN = 'admin-token-0123456789';
const CLUSTER = [{ name: 'cluster', token: 'cluster-token-0123456789' }];

@Controller()
@AdminOnly()
class Routes {
  @Post('change')
  change(@CurrentActor() by: Actor): Actor {
    return by;
  }

  @Post('command')
  @ClusterCommand()
  command(@CurrentActor() by: Actor): Actor {
    return by;
  }
}

describe('AdminGuard', () => {
  const clock = new FakeClock();
  const cluster = new ClusterTokens(CLUSTER, OWN, clock);
  let app: NestFastifyApplication;

  beforeEach(async () => {
    Logger.overrideLogger(false);
    const module = await Test.createTestingModule({
      controllers: [Routes],
      providers: [
        AdminGuard,
        { provide: AdminTokens, useValue: new AdminTokens([{ name: 'ops', token: ADMIN }], clock) },
        { provide: ClusterTokens, useValue: cluster },
        { provide: FailureLimit, useValue: new FailureLimit(clock) },
      ],
    }).compile();
    app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter());
    app.useGlobalFilters(new ProblemFilter());
    app.getHttpAdapter().getInstance().decorate('lastFailure', new LastFailure(clock));
    await app.init();
  });
  afterEach(() => app.close());

  /** The actor, or the code of the refusal. */
  async function ask(url: string, token?: string, remoteAddress = '10.0.0.7'): Promise<unknown> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await app.inject({ method: 'POST', url, headers, remoteAddress });
    const { code, ...actor } = answer.json<Record<string, unknown>>();
    return code ?? actor;
  }

  const sign = (path: string, by?: string, server = OWN): string => cluster.sign(server, { method: 'POST', path }, by)!;

  it('admits the holder of an admin token on every route', async () => {
    const ops = { name: 'ops', address: '10.0.0.7' };
    expect([await ask('/change', ADMIN), await ask('/command', ADMIN)]).toEqual([ops, ops]);
  });

  it('admits another server to commands alone, in the name of the operator', async () => {
    expect(await ask('/command', sign('/command', 'ops'))).toEqual({ name: 'cluster:ops', address: '10.0.0.7' });
    expect(await ask('/change', sign('/change', 'ops'))).toBe('LEAF_UNAUTHORIZED');
  });

  it.each([undefined, '', 'o ps', 'x'.repeat(33)])('does not know an operator %j of another server', async (by) => {
    expect(await ask('/command', sign('/command', by))).toMatchObject({ name: 'cluster:unknown' });
  });

  it('refuses what was signed for another route or another server', async () => {
    for (const token of [sign('/change', 'ops'), sign('/command', 'ops', '10.0.0.2:80')]) {
      expect(await ask('/command', token)).toBe('LEAF_UNAUTHORIZED');
    }
  });

  it('refuses the cluster token itself, and a wrong token', async () => {
    for (const token of [CLUSTER[0]?.token, `${ADMIN}x`, '']) {
      for (const url of ['/change', '/command']) expect(await ask(url, token)).toBe('LEAF_UNAUTHORIZED');
    }
  });

  it('lets an address without a token wait after ten requests', async () => {
    for (let n = 0; n < 10; n++) expect(await ask('/change')).toBe('LEAF_UNAUTHORIZED');
    expect(await ask('/change')).toBe('LEAF_TOO_MANY_FAILURES');
    expect(await ask('/change', undefined, '10.0.0.8')).toBe('LEAF_UNAUTHORIZED');
    expect(await ask('/change', ADMIN)).toMatchObject({ name: 'ops' });
  });
});
