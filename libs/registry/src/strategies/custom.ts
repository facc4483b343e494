import type { WorkerStore } from '@leaf-ids/core';
import { flag, object, oneOf, required, type Rules, text, workerStoreRule } from '@leaf-ids/core/internal';
import { FixedPolicy } from '../policies/fixed-policy';
import { PoolPolicy } from '../policies/pool-policy';
import type { StrategyParts } from './strategy';

/** A worker store of the application. */
export interface CustomOptions {
  readonly strategy: 'custom';
  readonly store: WorkerStore;
  /** One record for each `ip:port`, or a pool. */
  readonly policy: 'fixed' | 'pool';
  /** Whether the store never loses a confirmed write. False by default: newcomers wait in a new registry. */
  readonly remembers?: boolean;
}

const RULES: Rules<CustomOptions> = {
  strategy: text,
  store: required(workerStoreRule),
  policy: required(oneOf('fixed', 'pool')),
  remembers: flag,
};

export const customRule = object(RULES);

export function customParts({ store, policy, remembers = false }: CustomOptions): StrategyParts {
  return { store, policy: policy === 'pool' ? new PoolPolicy() : new FixedPolicy(), remembers };
}
