import 'reflect-metadata';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger, type Type } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import { Clock } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import { nestModules } from '../../../../test/support/servers/nest-modules';
import { ClientAccess } from '../clients/client-access';
import { ClientsModule } from '../clients/clients.module';
import { ClusterTokens } from './cluster-tokens';
import { AdminTokens } from './token-set';
import { TokensModule } from './tokens.module';

const [FIRST, SECOND] = ['first-token-0123456789', 'second-token-0123456789'];
const INSTANCE = { LEAF_ADVERTISE_HOST: '10.0.0.7', LEAF_ADVERTISE_PORT: '8080' };

let clock: FakeClock;
let modules: TestingModule;

async function start(env: NodeJS.ProcessEnv): Promise<void> {
  Logger.overrideLogger(false);
  clock = new FakeClock();
  modules = await nestModules(env, [TokensModule, ClientsModule], [{ provide: Clock, useValue: clock }]);
  await modules.init();
}
afterEach(() => modules.close());

const get = <T>(type: Type<T>): T => modules.get(type, { strict: false });
const isAdmin = (token: string): boolean => get(AdminTokens).find(token) !== undefined;
const isPeer = (token: string): boolean => {
  const own = '10.0.0.7:8080';
  const request = { method: 'POST', path: '/' };
  const signed = new ClusterTokens([{ name: 'cluster', token }], '10.0.0.8:8080', clock).sign(own, request)!;
  return get(ClusterTokens).verify(signed, request) !== undefined;
};
const clientOf = (token: string): string | undefined => {
  try {
    return get(ClientAccess).authenticate(token, '10.0.0.9', 'AUTH').client.name;
  } catch {
    return undefined;
  }
};
const isClient = (token: string): boolean => clientOf(token) !== undefined;

const KINDS = [
  ['LEAF_ADMIN_TOKEN', isAdmin],
  ['LEAF_CLUSTER_TOKEN', isPeer],
  ['LEAF_CLIENT_TOKENS', isClient],
] as const;

it.each(KINDS)('%s is accepted, and no other token', async (name, accepts) => {
  await start({ ...INSTANCE, [name]: FIRST });
  expect([accepts(FIRST), accepts(SECOND)]).toEqual([true, false]);
});

it.each(KINDS)('%s is accepted as long as it is in its file', async (name, accepts) => {
  const directory = await mkdtemp(join(tmpdir(), 'leaf-tokens-'));
  try {
    const file = join(directory, 'tokens');
    await writeFile(file, FIRST);
    await start({ ...INSTANCE, [`${name}_FILE`]: file });
    expect([accepts(FIRST), accepts(SECOND)]).toEqual([true, false]);
    await writeFile(file, SECOND);
    await clock.advance(5000);
    expect([accepts(FIRST), accepts(SECOND)]).toEqual([false, true]);
  } finally {
    await rm(directory, { recursive: true });
  }
});

it('no token is accepted without settings', async () => {
  await start({});
  expect(get(AdminTokens).names).toEqual(['admin']);
  expect([isAdmin(FIRST), isPeer(FIRST), get(ClusterTokens).canSign]).toEqual([false, false, false]);
});

it('clients need a token where there are client tokens, and have the quotas of the settings', async () => {
  await start({
    ...INSTANCE,
    LEAF_CLIENT_TOKENS: `billing:${FIRST}`,
    LEAF_CLIENT_QUOTAS: '{"billing":{"tags":["order"]}}',
  });
  const access = get(ClientAccess);
  expect([access.enabled, clientOf(FIRST)]).toEqual([true, 'billing']);
  const accepted = access.authenticate(FIRST, '10.0.0.9', 'AUTH');
  expect(() => access.charge(accepted, 'order', 1)).not.toThrow();
  expect(() => access.charge(accepted, 'other', 1)).toThrow(expect.objectContaining({ code: 'LEAF_FORBIDDEN' }));
  await modules.close();
  await start({});
  expect(get(ClientAccess).enabled).toBe(false);
});
