import { LeafClient } from '@leaf-ids/client/plain';
import { CHUNK, type Contender } from '../core/contender';

/** The tag that every new server has. */
export const TAG = 'leaf-segment-test';
const BATCH = 1000;

type Fill = Contender['fill'];

/** As an application has to: what is not at hand is waited for. */
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

/** Each with a client of its own on the same server; the clients are the caller's to close. */
export function clientContenders(url: string): { readonly clients: LeafClient[]; readonly contenders: Contender[] } {
  const clients: LeafClient[] = [];
  const contender = (
    name: string,
    group: Contender['group'],
    product: string,
    chunk: number,
    fillBy: (client: LeafClient) => Fill,
  ): Contender => {
    const client = new LeafClient({ servers: [url] });
    clients.push(client);
    return { name, group, product, chunk, fill: fillBy(client) };
  };
  const contenders = [
    contender(`client tryNext('${TAG}')`, 'leaf-segment', 'bigint', CHUNK, fillByTryNext),
    contender(`client await nextId('${TAG}')`, 'leaf-segment', 'bigint', CHUNK, fillByNextId),
    contender(`client nextIds('${TAG}', ${BATCH})`, 'leaf-segment', 'bigint', BATCH, fillByBatches),
    contender('client trySnowflakeString()', 'leaf-snowflake', 'string', CHUNK, fillBySnowflakes),
  ];
  return { clients, contenders };
}
