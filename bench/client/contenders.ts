import { LeafClient, type LeafClientOptions } from '@leaf-ids/client';
import { type Contender, type Fill, wait } from '../core/contender';

/** The tag that exists on every new server. */
const TAG = 'leaf-segment-test';
const BATCH = 1000;
/** Of the server, for worker windows. */
export const WORKER_TOKEN = 'worker-token-of-the-benchmark';

function fillByTryNext(client: LeafClient): Fill {
  return (ids, from, to) => {
    for (let i = from; i < to; i++) {
      const id = client.tryNext(TAG);
      if (id === undefined) return wait(ids, i, client.nextId(TAG));
      ids[i] = id;
    }
    return to;
  };
}

function fillByNumbers(client: LeafClient): Fill {
  return (ids, from, to) => {
    for (let i = from; i < to; i++) {
      const id = client.tryNextNumber(TAG);
      if (id === undefined) return wait(ids, i, client.nextNumber(TAG));
      ids[i] = id;
    }
    return to;
  };
}

function fillByNextId(client: LeafClient): Fill {
  return async (ids, from, to) => {
    for (let i = from; i < to; i++) ids[i] = await client.nextId(TAG);
    return to;
  };
}

function fillByBatches(client: LeafClient): Fill {
  return async (ids, from, to) => {
    const batch = await client.nextIds(TAG, to - from);
    for (let i = 0; i < batch.length; i++) ids[from + i] = batch[i];
    return to;
  };
}

function fillBySnowflakes(client: LeafClient): Fill {
  const next = (): Promise<unknown> => client.snowflakeStrings(1).then(([first]) => first);
  return (ids, from, to) => {
    for (let i = from; i < to; i++) {
      const id = client.trySnowflakeString();
      if (id === undefined) return wait(ids, i, next());
      ids[i] = id;
    }
    return to;
  };
}

/** The client makes these IDs itself, and blocks until the next millisecond if those of one are used up. */
function fillByWindow(client: LeafClient): Fill {
  return (ids, from, to) => {
    for (let i = from; i < to; i++) ids[i] = client.snowflake();
    return to;
  };
}

/** Each contender has its own client of the same server. The caller closes the clients. */
export async function clientContenders(
  url: string,
): Promise<{ readonly clients: LeafClient[]; readonly contenders: Contender[] }> {
  const clients: LeafClient[] = [];
  const open = (options: Partial<LeafClientOptions> = {}): LeafClient => {
    const client = new LeafClient({ servers: [url], ...options });
    clients.push(client);
    return client;
  };
  const segment = { group: 'leaf-segment', product: 'bigint' } as const;
  const snowflake = { group: 'leaf-snowflake', product: 'bigint' } as const;
  const contenders: Contender[] = [
    { ...segment, name: `client tryNext('${TAG}')`, fill: fillByTryNext(open()) },
    { ...segment, name: `client tryNextNumber('${TAG}')`, product: 'number', fill: fillByNumbers(open()) },
    { ...segment, name: `client await nextId('${TAG}')`, fill: fillByNextId(open()) },
    { ...segment, name: `client nextIds('${TAG}', ${BATCH})`, chunk: BATCH, fill: fillByBatches(open()) },
    { ...snowflake, name: 'client trySnowflakeString()', product: 'string', fill: fillBySnowflakes(open()) },
  ];
  const windows = open({ snowflake: { mode: 'window', token: WORKER_TOKEN }, preload: { snowflake: true } });
  await windows.ready();
  contenders.push({ ...snowflake, name: 'client snowflake(), worker window', fill: fillByWindow(windows) });
  return { clients, contenders };
}
