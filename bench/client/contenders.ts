import { LeafClient, type LeafClientOptions } from '@leaf-ids/client/plain';
import { CHUNK, type Contender } from '../core/contender';

/** The tag that exists on every new server. */
export const TAG = 'leaf-segment-test';
const BATCH = 1000;
/** Of the server, for worker windows. */
export const WORKER_TOKEN = 'worker-token-of-the-benchmark';

type Fill = Contender['fill'];

/** Waits if no ID is buffered, as an application does. */
function fillByTryNext(client: LeafClient): Fill {
  const wait = async (ids: unknown[], index: number): Promise<number> => {
    ids[index] = await client.nextId(TAG);
    return index + 1;
  };
  return (ids, from, to) => {
    for (let i = from; i < to; i++) {
      const id = client.tryNext(TAG);
      if (id === undefined) return wait(ids, i);
      ids[i] = id;
    }
    return to;
  };
}

function fillByNumbers(client: LeafClient): Fill {
  const wait = async (ids: unknown[], index: number): Promise<number> => {
    ids[index] = await client.nextNumber(TAG);
    return index + 1;
  };
  return (ids, from, to) => {
    for (let i = from; i < to; i++) {
      const id = client.tryNextNumber(TAG);
      if (id === undefined) return wait(ids, i);
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
  const wait = async (ids: unknown[], index: number): Promise<number> => {
    [ids[index]] = await client.snowflakeStrings(1);
    return index + 1;
  };
  return (ids, from, to) => {
    for (let i = from; i < to; i++) {
      const id = client.trySnowflakeString();
      if (id === undefined) return wait(ids, i);
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
  const contender = (
    name: string,
    group: Contender['group'],
    product: string,
    chunk: number,
    fillBy: (client: LeafClient) => Fill,
    options: Partial<LeafClientOptions> = {},
  ): Contender => {
    const client = new LeafClient({ servers: [url], ...options });
    clients.push(client);
    return { name, group, product, chunk, fill: fillBy(client) };
  };
  const contenders = [
    contender(`client tryNext('${TAG}')`, 'leaf-segment', 'bigint', CHUNK, fillByTryNext),
    // An older revision does not have it.
    ...('tryNextNumber' in LeafClient.prototype
      ? [contender(`client tryNextNumber('${TAG}')`, 'leaf-segment', 'number', CHUNK, fillByNumbers)]
      : []),
    contender(`client await nextId('${TAG}')`, 'leaf-segment', 'bigint', CHUNK, fillByNextId),
    contender(`client nextIds('${TAG}', ${BATCH})`, 'leaf-segment', 'bigint', BATCH, fillByBatches),
    contender('client trySnowflakeString()', 'leaf-snowflake', 'string', CHUNK, fillBySnowflakes),
    contender('client snowflake(), worker window', 'leaf-snowflake', 'bigint', CHUNK, fillByWindow, {
      snowflake: { mode: 'window', token: WORKER_TOKEN },
      preload: { snowflake: true },
    }),
  ];
  await clients.at(-1)?.ready();
  return { clients, contenders };
}
