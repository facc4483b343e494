import { formatInstance, type Instance } from '@leaf/core';

export const SEQUENCE_DIGITS = 10;

/** A record of `zk_normal`: `<ip>:<port>-<10-digit sequence>`. */
export interface NormalNode {
  readonly name: string;
  /** The sequence that ZooKeeper has given. */
  readonly workerId: number;
  readonly instance: Instance;
}

/** Undefined for a name that is none. Names of hosts and services may have dashes: the last one counts. */
export function parseNodeName(name: string): NormalNode | undefined {
  const [, bracketed, plain, port, sequence] = /^(?:\[(.+)\]|(.+)):(\d{1,5})-(\d{10})$/.exec(name) ?? [];
  const ip = bracketed ?? plain;
  if (ip === undefined) return undefined;
  return { name, workerId: Number(sequence), instance: { ip, port: Number(port) } };
}

/** What is before the sequence of the node of this instance. */
export function nodePrefix(instance: Instance): string {
  return `${formatInstance(instance)}-`;
}

/** The three keys of the Java service, and no other. */
export function formatNodeData({ ip, port }: Instance, ceiling: number): string {
  return JSON.stringify({ ip, port: String(port), timestamp: ceiling });
}

/** Undefined for data without a time in Unix milliseconds. */
export function parseCeiling(data: string): number | undefined {
  let found: { readonly timestamp?: unknown };
  try {
    found = (JSON.parse(data) ?? {}) as typeof found;
  } catch {
    return undefined;
  }
  const { timestamp } = found;
  return Number.isSafeInteger(timestamp) && (timestamp as number) >= 0 ? (timestamp as number) : undefined;
}
