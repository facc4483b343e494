import { once } from 'node:events';
import { createServer } from 'node:net';
import { Logger } from '@nestjs/common';
import type { Clock } from '@leaf-ids/core';
import { codeOf, parseObject } from '@leaf-ids/core/internal';
import type { LeafConfig } from '../../config/leaf-config';
import { STOPPING } from '../../lifecycle/drain';
import { listen, type ListenAddress, urlOf } from './listen';

/** Time beyond the drain in which an earlier server ends its last requests, in milliseconds. */
const STOP_MARGIN_MS = 10_000;
const RETRY_MS = 200;
const REQUEST_MS = 1000;

type Addresses = Pick<LeafConfig, 'host' | 'port' | 'management' | 'resp'>;

/** Where a server listens; undefined for a port that is disabled. */
export function addressesOf({ host, port, management, resp }: Addresses): {
  readonly public: ListenAddress;
  readonly management: ListenAddress | undefined;
  readonly resp: ListenAddress | undefined;
} {
  const managementHost = management?.host === host ? 'LEAF_HOST' : 'LEAF_MANAGEMENT_HOST';
  return {
    public: { host, port, settings: { host: 'LEAF_HOST', port: 'LEAF_PORT' } },
    management: management && {
      ...management,
      settings: { host: managementHost, port: 'LEAF_MANAGEMENT_PORT' },
    },
    resp: resp && {
      host: resp.host,
      port: resp.port,
      settings: { host: 'LEAF_RESP_HOST', port: 'LEAF_RESP_PORT' },
    },
  };
}

/**
 * Tests the ports before the start creates files or tables. An earlier server that is stopping still has them: the
 * start waits for it, at most as long as its drain and its last requests take.
 *
 * @param signal ends the waiting
 * @throws LeafError `LEAF_PORT_UNUSABLE`
 */
export async function waitForPorts(
  config: Addresses & Pick<LeafConfig, 'drainMs'>,
  clock: Clock,
  signal?: AbortSignal,
): Promise<void> {
  const addresses = Object.values(addressesOf(config)).filter((address) => address !== undefined);
  const end = clock.monotonic() + config.drainMs + STOP_MARGIN_MS;
  let isWaiting = false;
  for (;;) {
    try {
      for (const address of addresses) await listen(address, () => tryPort(address));
      return;
    } catch (error) {
      signal?.throwIfAborted();
      const isUsed = codeOf((error as Error).cause) === 'EADDRINUSE' && clock.monotonic() < end;
      if (!isUsed || !(isWaiting || (await isStopping(addresses, clock)))) throw error;
      if (!isWaiting) new Logger('Server').log('Waiting for the earlier server on this port to stop.');
      isWaiting = true;
      await clock.sleep(RETRY_MS, signal);
    }
  }
}

async function tryPort({ host, port }: ListenAddress): Promise<void> {
  const server = createServer((socket) => socket.destroy()).listen({ host, port });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}

/** Whether a server at one of the addresses drains because it was told to stop. */
async function isStopping(addresses: readonly ListenAddress[], clock: Clock): Promise<boolean> {
  const ended = new AbortController();
  const answers = addresses.map(async ({ host, port }) => {
    const response = await fetch(`${urlOf(host, port)}/health/ready`, { signal: ended.signal });
    const { details } = parseObject(await response.text()) as {
      readonly details?: { readonly drain?: { readonly message?: string } };
    };
    return details?.drain?.message === STOPPING;
  });
  const found = Promise.allSettled(answers).then((results) =>
    results.some((result) => result.status === 'fulfilled' && result.value),
  );
  try {
    // The sleep also keeps this process alive: a request whose connection is closed at once does not.
    return await Promise.race([found, clock.sleep(REQUEST_MS, ended.signal).then(() => false)]);
  } finally {
    ended.abort();
  }
}
