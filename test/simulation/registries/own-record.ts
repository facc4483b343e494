import type { LeaseHolder } from '@leaf/core';
import { formatInstance } from '@leaf/core';
import type { StoredRecord } from '../stored-record';
import type { StoreClient } from './store-client';

/** The record of an `ip:port`: of several, which a lost answer to a create leaves, the first. Made when there is none. */
export async function ownRecord(client: StoreClient, holder: LeaseHolder): Promise<readonly StoredRecord[]> {
  const instance = formatInstance(holder);
  for (;;) {
    const own = (await client.list()).filter(({ owner }) => owner === instance);
    if (own.length > 0) return own.slice(0, 1);
    await client.create(instance);
  }
}
